// SPDX-License-Identifier: Apache-2.0
// Pictures to JPEG files, from YUV samples without a detour over RGB.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/align.h"
#include "media/plugin_image/codec.h"
#include "media/plugin_image/jpeg_errors.h"
#include "pixel/chroma.h"

namespace anynpu::media {
namespace {

using pixel::Picture;
using pixel::Plane;

// Writes into memory of the caller; a picture that does not fit is an error.
struct Target {
  jpeg_destination_mgr manager;
  std::span<uint8_t> room;
  bool full = false;

  void attach(jpeg_compress_struct& c) {
    manager.init_destination = [](j_compress_ptr c) {
      auto* self = reinterpret_cast<Target*>(c->dest);
      self->manager.next_output_byte = self->room.data();
      self->manager.free_in_buffer = self->room.size();
    };
    manager.empty_output_buffer = [](j_compress_ptr c) -> boolean {
      auto* self = reinterpret_cast<Target*>(c->dest);
      auto* errors = reinterpret_cast<JpegErrors*>(c->err);
      self->full = true;
      std::longjmp(errors->back, 1);
    };
    manager.term_destination = [](j_compress_ptr) {};
    c.dest = &manager;
  }
  size_t written() const { return room.size() - manager.free_in_buffer; }
};

void set_sampling(jpeg_compress_struct& c, const Picture& from) {
  const bool grey = from.format->family == pixel::Family::grey;
  c.in_color_space = grey ? JCS_GRAYSCALE : JCS_YCbCr;
  c.input_components = grey ? 1 : 3;
  jpeg_set_defaults(&c);
  jpeg_set_colorspace(&c, c.in_color_space);
  c.comp_info[0].h_samp_factor = 1 << from.format->shift_x;
  c.comp_info[0].v_samp_factor = 1 << from.format->shift_y;
  for (int i = 1; i < c.num_components; ++i)
    c.comp_info[i].h_samp_factor = c.comp_info[i].v_samp_factor = 1;
}

void set_quant(jpeg_compress_struct& c, const JpegTables& tables) {
  // libjpeg takes natural order; programs give the order of the file.
  static constexpr uint8_t kZigzag[64] = {
      0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
      41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
      30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
  for (int t = 0; t < 3; ++t) {
    if (tables.quant[t] == nullptr) continue;
    unsigned int natural[64];
    for (int i = 0; i < 64; ++i)
      natural[kZigzag[i]] = std::max<unsigned int>(tables.quant[t][i], 1);
    jpeg_add_quant_table(&c, t, natural, 100, TRUE);
    if (t < c.num_components) c.comp_info[t].quant_tbl_no = t;
  }
}

void set_huffman(jpeg_compress_struct& c, const JpegTables& tables) {
  for (int i = 0; i < 2; ++i) {
    const auto set = [](JHUFF_TBL* table, const JpegTables::Huffman& from) {
      if (from.bits == nullptr || table == nullptr) return;
      table->bits[0] = 0;
      std::memcpy(table->bits + 1, from.bits, 16);
      std::memcpy(table->huffval, from.values, std::min<size_t>(from.count, 256));
    };
    set(c.dc_huff_tbl_ptrs[i], tables.dc[i]);
    set(c.ac_huff_tbl_ptrs[i], tables.ac[i]);
  }
}

struct Rows {
  std::vector<uint8_t> samples[3];
  std::vector<JSAMPROW> rows[3];
  std::vector<JSAMPROW> own;  // the luma rows among `rows`
};

// The last sample of a row, repeated to the right to fill whole blocks.
void fill_row(uint8_t* row, size_t width, size_t padded) {
  std::memset(row + width, row[width - 1], padded - width);
}

void write_all(jpeg_compress_struct& c, const Picture& from, Rows& keep) {
  const auto group = static_cast<uint32_t>(c.max_v_samp_factor * DCTSIZE);
  const auto mcu = static_cast<uint32_t>(c.max_h_samp_factor * DCTSIZE);
  size_t padded[3] = {};
  for (int i = 0; i < c.num_components; ++i) {
    const auto& info = c.comp_info[i];
    const size_t height = static_cast<size_t>(info.v_samp_factor) * DCTSIZE;
    padded[i] = ceil_div(from.width, mcu) * static_cast<size_t>(info.h_samp_factor) * DCTSIZE;
    keep.samples[i].resize(padded[i] * height);
    keep.rows[i].resize(height);
    for (size_t y = 0; y < height; ++y) keep.rows[i][y] = keep.samples[i].data() + y * padded[i];
  }
  const bool direct = from.width % mcu == 0;
  keep.own = keep.rows[0];
  const Plane luma = from.plane(0);
  const Plane chroma = c.num_components == 3 ? from.plane(1) : Plane{};
  while (c.next_scanline < c.image_height) {
    const uint32_t top = c.next_scanline;
    for (uint32_t y = 0; y < keep.rows[0].size(); ++y) {
      if (direct) {
        keep.rows[0][y] = luma.row(std::min(top + y, luma.height - 1));
      } else {
        std::memcpy(keep.own[y], luma.row(std::min(top + y, luma.height - 1)), luma.width);
        fill_row(keep.own[y], luma.width, padded[0]);
      }
    }
    for (uint32_t y = 0; y < keep.rows[1].size(); ++y) {
      const uint32_t row = (top >> from.format->shift_y) + y;
      uint8_t* pair[2];
      for (int i = 1; i < 3; ++i) pair[from.format->at[i]] = keep.rows[i][y];
      pixel::take_apart(chroma.row(std::min(row, chroma.height - 1)), chroma.width, pair[0],
                        pair[1]);
      for (int i = 1; i < 3; ++i) fill_row(keep.rows[i][y], chroma.width, padded[i]);
    }
    JSAMPARRAY planes[3] = {keep.rows[0].data(), keep.rows[1].data(), keep.rows[2].data()};
    jpeg_write_raw_data(&c, planes, group);
  }
}

}  // namespace

Result<size_t> encode_jpeg_picture(const Picture& from, int quality, const JpegTables& tables,
                                   std::span<uint8_t> to) {
  jpeg_compress_struct c{};
  JpegErrors errors;
  Target target;
  Rows keep;
  target.room = to;
  c.err = errors.start();
  if (setjmp(errors.back)) {
    jpeg_destroy_compress(&c);
    if (target.full)
      return fail(Code::invalid_address,
                  "the encoded picture does not fit the {} bytes of the output", to.size());
    return fail(Code::invalid_argument, "the picture cannot be encoded: {}", errors.text);
  }
  jpeg_create_compress(&c);
  target.attach(c);
  c.image_width = from.width;
  c.image_height = from.height;
  set_sampling(c, from);
  jpeg_set_quality(&c, quality, TRUE);
  set_quant(c, tables);
  set_huffman(c, tables);
  c.restart_interval = tables.restart_interval;
  c.raw_data_in = TRUE;
  c.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&c, TRUE);
  if (tables.comment != nullptr)
    jpeg_write_marker(&c, JPEG_COM, reinterpret_cast<const JOCTET*>(tables.comment),
                      static_cast<unsigned int>(std::strlen(tables.comment)));
  write_all(c, from, keep);
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  return target.written();
}

}  // namespace anynpu::media
