// SPDX-License-Identifier: Apache-2.0
// JPEG files to pictures: the decoder's own YUV samples, without a detour over RGB.
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

JpegSampling sampling_of(const jpeg_decompress_struct& d) {
  if (d.num_components == 1) return JpegSampling::grey;
  if (d.num_components != 3 || d.jpeg_color_space != JCS_YCbCr) return JpegSampling::unknown;
  const auto* c = d.comp_info;
  for (int i = 1; i < 3; ++i) {
    if (c[i].h_samp_factor != c[1].h_samp_factor || c[i].v_samp_factor != c[1].v_samp_factor ||
        c[0].h_samp_factor % c[i].h_samp_factor || c[0].v_samp_factor % c[i].v_samp_factor)
      return JpegSampling::unknown;
  }
  const int h = c[0].h_samp_factor / c[1].h_samp_factor;
  const int v = c[0].v_samp_factor / c[1].v_samp_factor;
  if (h == 1 && v == 1) return JpegSampling::s444;
  if (h == 2 && v == 1) return JpegSampling::s422;
  if (h == 2 && v == 2) return JpegSampling::s420;
  if (h == 1 && v == 2) return JpegSampling::s440;
  if (h == 4 && v == 1) return JpegSampling::s411;
  return JpegSampling::unknown;
}

int32_t layout_of(const jpeg_decompress_struct& d) {
  switch (sampling_of(d)) {
    case JpegSampling::grey:
      return pixel::kYuv400;
    case JpegSampling::s444:
      return pixel::kYuv444sp;
    case JpegSampling::s422:
      return pixel::kYuv422sp;
    case JpegSampling::s420:
      return pixel::kNv12;
    case JpegSampling::s440:
      return pixel::kYuv440sp;
    default:  // whole pixels, by the decoder's own upsampling
      return d.jpeg_color_space == JCS_RGB ? pixel::kRgb888 : pixel::kYuv444;
  }
}

void read_header(jpeg_decompress_struct& d, Bytes file) {
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&d, TRUE);
}

// Memory that has to outlive a longjmp.
struct RawRows {
  std::vector<uint8_t> samples[3];
  std::vector<JSAMPROW> rows[3];
  std::vector<JSAMPROW> own;  // the luma rows among `rows`
  std::vector<uint8_t> line;
};

// One group of rows: luma straight into the picture where whole blocks fit.
struct RawReader {
  jpeg_decompress_struct& d;
  const Picture& to;
  RawRows& keep;
  bool direct;
  uint32_t group;  // luma rows at once

  RawReader(jpeg_decompress_struct& d, const Picture& to, RawRows& keep)
      : d(d), to(to), keep(keep) {
    group = static_cast<uint32_t>(d.max_v_samp_factor * DCTSIZE);
    for (int c = 0; c < d.num_components; ++c) {
      const auto& info = d.comp_info[c];
      const size_t width = size_t{info.width_in_blocks} * DCTSIZE;
      // libjpeg writes whole MCUs, which may have more blocks than the component.
      const size_t padded = round_up(width + group * 4, 64);
      const size_t height = static_cast<size_t>(info.v_samp_factor) * DCTSIZE;
      keep.samples[c].resize(padded * height);
      keep.rows[c].resize(height);
      for (size_t y = 0; y < height; ++y) keep.rows[c][y] = keep.samples[c].data() + y * padded;
    }
    keep.own = keep.rows[0];
    direct = to.width % DCTSIZE == 0;  // no sample lies beyond the edge
  }

  void read_all() {
    while (d.output_scanline < d.output_height) {
      const uint32_t top = d.output_scanline;
      const pixel::Plane luma = to.plane(0);
      if (direct) {
        for (uint32_t y = 0; y < group; ++y)
          keep.rows[0][y] = top + y < to.height ? luma.row(top + y) : keep.own[y];
      }
      JSAMPARRAY planes[3] = {keep.rows[0].data(), keep.rows[1].data(), keep.rows[2].data()};
      if (jpeg_read_raw_data(&d, planes, group) == 0) break;
      if (!direct) {
        for (uint32_t y = 0; y < group && top + y < to.height; ++y)
          std::memcpy(luma.row(top + y), keep.rows[0][y], to.width);
      }
      if (d.num_components == 3) write_chroma(top);
    }
  }

  void write_chroma(uint32_t top) {
    const pixel::Plane plane = to.plane(1);
    const uint32_t first = top >> to.format->shift_y;
    const uint32_t count = group >> to.format->shift_y;
    const int u = to.format->at[1];
    for (uint32_t y = 0; y < count && first + y < plane.height; ++y) {
      const uint8_t* a = keep.rows[u == 0 ? 1 : 2][y];
      const uint8_t* b = keep.rows[u == 0 ? 2 : 1][y];
      pixel::interleave(a, b, plane.width, plane.row(first + y));
    }
  }
};

// Luma groups follow the largest factor; a component of a lone 1x1 sampling is the same.
void read_lines(jpeg_decompress_struct& d, const Picture& to, RawRows& keep) {
  keep.line.resize(size_t{d.output_width} * d.output_components);
  while (d.output_scanline < d.output_height) {
    uint8_t* row = to.plane(0).row(d.output_scanline);
    JSAMPROW line = keep.line.data();
    if (jpeg_read_scanlines(&d, &line, 1) == 0) break;
    std::memcpy(row, line, keep.line.size());
  }
}

}  // namespace

Result<JpegInfo> read_jpeg_info(Bytes file) {
  jpeg_decompress_struct d{};
  JpegErrors errors;
  d.err = errors.start();
  if (setjmp(errors.back)) {
    jpeg_destroy_decompress(&d);
    return fail(Code::file_invalid, "the data is no JPEG picture: {}", errors.text);
  }
  read_header(d, file);
  JpegInfo info;
  info.width = d.image_width;
  info.height = d.image_height;
  info.components = d.num_components;
  info.sampling = sampling_of(d);
  info.layout = layout_of(d);
  info.progressive = d.progressive_mode;
  const bool four = d.num_components == 4 || d.num_components == 2;
  jpeg_destroy_decompress(&d);
  if (four)
    return fail(Code::unsupported_feature,
                "the JPEG picture has {} components; expected 1 (grey) or 3 (colour)",
                info.components);
  return info;
}

Status decode_jpeg_picture(Bytes file, const Picture& to) {
  jpeg_decompress_struct d{};
  JpegErrors errors;
  jpeg_progress_mgr progress{};
  progress.progress_monitor = watch_scans;
  RawRows keep;
  d.err = errors.start();
  if (setjmp(errors.back)) {
    jpeg_destroy_decompress(&d);
    return fail(Code::file_invalid, "the JPEG picture cannot be decoded: {}", errors.text);
  }
  read_header(d, file);
  d.progress = &progress;
  if (d.image_width != to.width || d.image_height != to.height) {
    jpeg_destroy_decompress(&d);
    return fail(Code::file_invalid, "the JPEG picture changed while it was decoded");
  }
  const int32_t layout = layout_of(d);
  const bool raw = layout != pixel::kYuv444 && layout != pixel::kRgb888;
  d.out_color_space = raw ? d.jpeg_color_space : layout == pixel::kYuv444 ? JCS_YCbCr : JCS_RGB;
  d.raw_data_out = raw;
  d.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&d);
  if (raw)
    RawReader(d, to, keep).read_all();
  else
    read_lines(d, to, keep);
  jpeg_finish_decompress(&d);
  const long warnings = errors.manager.num_warnings;
  jpeg_destroy_decompress(&d);
  if (warnings > 0) return fail(Code::file_invalid, "the JPEG picture is damaged: {}", errors.text);
  return {};
}

}  // namespace anynpu::media
