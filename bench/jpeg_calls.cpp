// SPDX-License-Identifier: Apache-2.0
// libjpeg-turbo called directly: what decoding and encoding to and from its own YUV samples takes.
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
