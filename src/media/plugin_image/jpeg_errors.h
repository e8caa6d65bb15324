// SPDX-License-Identifier: Apache-2.0
// libjpeg reports failures by longjmp out of the function that failed; this keeps its message.
#pragma once

#include <jpeglib.h>

#include <csetjmp>
#include <cstdio>

namespace anynpu::media {

struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX] = "";

  jpeg_error_mgr* start() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr common) {
      auto* self = reinterpret_cast<JpegErrors*>(common->err);
      common->err->format_message(common, self->text);
      std::longjmp(self->back, 1);
    };
    manager.emit_message = [](j_common_ptr common, int level) {
      auto* self = reinterpret_cast<JpegErrors*>(common->err);
      if (level >= 0) return;
      ++common->err->num_warnings;
      if (self->text[0] == 0) common->err->format_message(common, self->text);
    };
    manager.output_message = [](j_common_ptr) {};
    return &manager;
  }
};

constexpr int kMostScans = 200;  // a file may ask for any number of passes over the picture

// Stops at files with more passes than any encoder makes.
inline void watch_scans(j_common_ptr common) {
  auto* d = reinterpret_cast<j_decompress_ptr>(common);
  if (!common->is_decompressor || d->input_scan_number <= kMostScans) return;
  auto* errors = reinterpret_cast<JpegErrors*>(common->err);
  std::snprintf(errors->text, sizeof errors->text, "more than %d scans", kMostScans);
  std::longjmp(errors->back, 1);
}

}  // namespace anynpu::media
