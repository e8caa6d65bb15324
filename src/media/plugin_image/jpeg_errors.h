// SPDX-License-Identifier: Apache-2.0
// libjpeg reports failures by leaving the function that failed; this keeps its sentence.
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

}  // namespace anynpu::media
