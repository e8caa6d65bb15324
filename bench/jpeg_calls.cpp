// SPDX-License-Identifier: Apache-2.0
// libjpeg-turbo called directly: what decoding and encoding to and from its own YUV samples takes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" {
#include <jpeglib.h>  // needs <cstdio> before it
}

namespace {

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

// Nanoseconds for one decode; the size must be a multiple of 16.
extern "C" double bench_jpeg_decode(const unsigned char* data, unsigned long bytes) {
  const auto begin = std::chrono::steady_clock::now();
  jpeg_decompress_struct d;
  jpeg_error_mgr errors;
  d.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, data, bytes);
  jpeg_read_header(&d, TRUE);
  d.raw_data_out = TRUE;
  d.out_color_space = JCS_YCbCr;
  jpeg_start_decompress(&d);
  static std::vector<unsigned char> out;
  const size_t w = d.image_width;
  out.resize(w * (d.image_height + 16) * 3 / 2);
  std::vector<JSAMPROW> y(16), u(8), v(8);
  while (d.output_scanline < d.output_height) {
    const size_t top = d.output_scanline;
    for (size_t i = 0; i < 16; ++i) y[i] = out.data() + (top + i) * w;
    unsigned char* chroma = out.data() + w * (d.image_height + 16) + top / 2 * w;
    for (size_t i = 0; i < 8; ++i) u[i] = chroma + i * w, v[i] = chroma + i * w + w / 2;
    JSAMPARRAY planes[] = {y.data(), u.data(), v.data()};
    // The last rows of 1080 are of no picture.
    if (top + 16 > d.output_height)
      for (size_t i = 4; i < 8; ++i) u[i] = u[0], v[i] = v[0];
    jpeg_read_raw_data(&d, planes, 16);
  }
  jpeg_finish_decompress(&d);
  jpeg_destroy_decompress(&d);
  return since(begin);
}

// Nanoseconds for one encode of planes (Y, then U, then V, 4:2:0); the width must be a multiple of
// 16.
extern "C" double bench_jpeg_encode(const unsigned char* planes, int width, int height,
                                    int quality) {
  const auto begin = std::chrono::steady_clock::now();
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  static std::vector<unsigned char> out(static_cast<size_t>(width) * height * 3);
  unsigned char* to = out.data();
  unsigned long room = out.size();
  jpeg_mem_dest(&c, &to, &room);
  c.image_width = static_cast<JDIMENSION>(width);
  c.image_height = static_cast<JDIMENSION>(height);
  c.input_components = 3;
  c.in_color_space = JCS_YCbCr;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, quality, TRUE);
  c.raw_data_in = TRUE;
  jpeg_start_compress(&c, TRUE);
  auto* base = const_cast<unsigned char*>(planes);
  unsigned char* chroma[] = {base + static_cast<size_t>(width) * height,
                             base + static_cast<size_t>(width) * height * 5 / 4};
  const int half = width / 2;
  std::vector<JSAMPROW> y(16), u(8), v(8);
  while (c.next_scanline < c.image_height) {
    const int top = static_cast<int>(c.next_scanline);
    for (int i = 0; i < 16; ++i) y[i] = base + std::min(top + i, height - 1) * width;
    for (int i = 0; i < 8; ++i) {
      const int row = std::min(top / 2 + i, height / 2 - 1);
      u[i] = chroma[0] + row * half;
      v[i] = chroma[1] + row * half;
    }
    JSAMPARRAY rows[] = {y.data(), u.data(), v.data()};
    jpeg_write_raw_data(&c, rows, 16);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  return since(begin);
}
