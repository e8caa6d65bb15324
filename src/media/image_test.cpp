// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG through the plug-in: round trips, limits, and files that lie.
#ifdef ANYNPU_HAS_IMAGE
#include "media/image.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "pixel/count_copies.h"

namespace anynpu::media {
namespace {

using pixel::find_format;
using pixel::OwnPicture;
using pixel::Picture;
using File = std::vector<uint8_t>;

OwnPicture drawn(int32_t layout, uint32_t width, uint32_t height) {
  OwnPicture own(*find_format(layout), width, height);
  for (int p = 0; p < own.view().planes(); ++p) {
    const pixel::Plane plane = own.view().plane(p);
    for (uint32_t y = 0; y < plane.height; ++y)
      for (uint32_t x = 0; x < plane.width * plane.channels; ++x)
        plane.row(y)[x] = static_cast<uint8_t>(96 + p * 30 + (x * 3 + y * 5) % 64);
  }
  return own;
}

int largest_difference(const Picture& a, const Picture& b) {
  int most = 0;
  for (int p = 0; p < a.planes(); ++p) {
    for (uint32_t y = 0; y < a.plane(p).height; ++y)
      for (uint32_t x = 0; x < a.plane(p).width * a.plane(p).channels; ++x)
        most = std::max(most, std::abs(a.plane(p).row(y)[x] - b.plane(p).row(y)[x]));
  }
  return most;
}

File jpeg_of(const Picture& picture, uint32_t level = 100) {
  File file(1 << 20);
  const auto bytes = encode_jpeg(picture, level, {}, file);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  file.resize(bytes.ok() ? *bytes : 0);
  return file;
}

Status decode(const File& file, const Picture& to) {
  ANYNPU_ASSIGN(const JpegInfo info, jpeg_info(file));
  return decode_jpeg(file, info, to, pixel::color_matrix(0));
}

TEST(JpegTest, sides_rounded_up_repeat_the_last_row_and_column) {
  const OwnPicture source = drawn(pixel::kNv12, 63, 47);
  const File file = jpeg_of(source.view());
  const JpegInfo info = *jpeg_info(file);
  PictureSpec spec;
  spec.format = pixel::kNv12;
  spec.width = 64;
  spec.height = 48;
  ASSERT_TRUE(complete_jpeg_output(info, &spec).ok());
  EXPECT_EQ(spec.width, 64u);
  EXPECT_EQ(spec.height, 48u);
  const OwnPicture exact(*pixel::find_format(pixel::kNv12), 63, 47);
  const OwnPicture even(*pixel::find_format(pixel::kNv12), 64, 48);
  ASSERT_TRUE(decode(file, exact.view()).ok());
  ASSERT_TRUE(decode(file, even.view()).ok());
  EXPECT_EQ(largest_difference(exact.view(), even.view()), 0);
  const pixel::Plane luma = even.view().plane(0);
  for (uint32_t x = 0; x < 63; ++x) EXPECT_EQ(luma.row(47)[x], luma.row(46)[x]);
  for (uint32_t y = 0; y < 48; ++y) EXPECT_EQ(luma.row(y)[63], luma.row(y)[62]);
}

TEST(JpegTest, other_sizes_are_refused_or_scaled_as_asked) {
  const OwnPicture source = drawn(pixel::kNv12, 64, 48);
  const JpegInfo info = *jpeg_info(jpeg_of(source.view()));
  PictureSpec spec;
  spec.format = pixel::kNv12;
  spec.width = 66;
  spec.height = 48;
  const Status refused = complete_jpeg_output(info, &spec);
  EXPECT_EQ(refused.code(), Code::invalid_argument);
  EXPECT_NE(refused.message().find("64x48"), std::string::npos);
  EXPECT_TRUE(complete_jpeg_output(info, &spec, OtherSize::scaled).ok());
  EXPECT_EQ(spec.width, 66u);
}

TEST(JpegTest, every_sampling_and_size_comes_back) {
  for (const int32_t layout :
       {pixel::kYuv400, pixel::kNv12, 2, pixel::kYuv422sp, pixel::kYuv444sp}) {
    for (const auto& [width, height] : {std::pair{1u, 1u}, {2u, 2u}, {17u, 9u}, {64u, 48u}}) {
      const OwnPicture source = drawn(layout, width, height);
      const File file = jpeg_of(source.view());
      const auto info = jpeg_info(file);
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(info->width, width);
      EXPECT_EQ(info->height, height);
      EXPECT_EQ(info->components, layout == pixel::kYuv400 ? 1 : 3);
      EXPECT_FALSE(info->progressive);
      const OwnPicture back(*find_format(layout), width, height);
      ASSERT_TRUE(decode(file, back.view()).ok());
      EXPECT_LE(largest_difference(source.view(), back.view()), 6) << layout << " " << width;
    }
  }
}

TEST(JpegTest, a_picture_is_copied_only_where_its_layout_changes) {
  const File file = jpeg_of(drawn(pixel::kNv12, 48, 32).view());
  const auto copies = [&](int32_t layout) {
    const OwnPicture to(*find_format(layout), 48, 32);
    return pixel::Copies::of([&] { EXPECT_TRUE(decode(file, to.view()).ok()); });
  };
  EXPECT_EQ(copies(pixel::kNv12), 0);
  EXPECT_EQ(copies(2), 0) << "the YVU twin";
  EXPECT_EQ(copies(pixel::kRgb888), 1);
  EXPECT_EQ(pixel::Copies::of([&] { jpeg_of(drawn(pixel::kNv12, 48, 32).view()); }), 1)
      << "the drawn picture itself; encoding adds none";
}

TEST(JpegTest, bytes_around_a_picture_stay_as_they_were) {
  const File file = jpeg_of(drawn(pixel::kNv12, 30, 22).view());
  File memory(64 * 32 * 3 / 2, 0xee);
  const Picture to{find_format(pixel::kNv12), memory.data(), 30, 22, 64, 32};
  ASSERT_TRUE(decode(file, to).ok());
  for (uint32_t y = 0; y < 48; ++y) {
    const bool padding_row = y < 32 ? y >= 22 : y >= 32 + 11;
    for (uint32_t x = padding_row ? 0 : 30; x < 64; ++x)
      ASSERT_EQ(memory[y * 64 + x], 0xee) << x << "," << y;
  }
}

TEST(JpegTest, an_output_that_is_too_small_is_told_with_its_size) {
  File room(100);
  const auto bytes = encode_jpeg(drawn(pixel::kNv12, 64, 48).view(), 90, {}, room);
  EXPECT_EQ(bytes.status().code(), Code::invalid_address);
  EXPECT_NE(bytes.status().message().find("100 bytes"), std::string::npos);
}

TEST(JpegTest, a_file_cut_off_anywhere_fails) {
  const File file = jpeg_of(drawn(pixel::kNv12, 48, 32).view(), 60);
  const OwnPicture to(*find_format(pixel::kNv12), 48, 32);
  for (size_t n = 0; n + 2 < file.size(); n += n < 64 ? 1 : 13)
    EXPECT_EQ(decode(File(file.begin(), file.begin() + static_cast<long>(n)), to.view()).code(),
              Code::file_invalid)
        << n << " of " << file.size();
  EXPECT_TRUE(decode(file, to.view()).ok()) << "and the next file is read";
}

TEST(JpegTest, a_header_that_lies_about_the_size_is_refused) {
  File file = jpeg_of(drawn(pixel::kNv12, 48, 32).view());
  size_t frame = 0;
  for (size_t i = 0; i + 1 < file.size() && frame == 0; ++i)
    if (file[i] == 0xff && file[i + 1] == 0xc0) frame = i;
  ASSERT_NE(frame, 0u);
  const auto with_size = [&](uint32_t width, uint32_t height) {
    File changed = file;
    changed[frame + 5] = static_cast<uint8_t>(height >> 8);
    changed[frame + 6] = static_cast<uint8_t>(height);
    changed[frame + 7] = static_cast<uint8_t>(width >> 8);
    changed[frame + 8] = static_cast<uint8_t>(width);
    return changed;
  };
  EXPECT_EQ(jpeg_info(with_size(65500, 65500)).status().code(), Code::invalid_argument);
  EXPECT_EQ(jpeg_info(with_size(0, 32)).status().code(), Code::file_invalid);
  const OwnPicture small(*find_format(pixel::kNv12), 48, 32);
  const auto info = jpeg_info(file);
  ASSERT_TRUE(info.ok());
  // It became larger after its size was read.
  EXPECT_EQ(decode_jpeg(with_size(4096, 4096), *info, small.view(), pixel::color_matrix(0)).code(),
            Code::file_invalid);
}

// A PNG file of RGB pixels whose data is not compressed.
class PngFile {
 public:
  PngFile(uint32_t width, uint32_t height) : bytes{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'} {
    File header;
    put(header, width);
    put(header, height);
    header.insert(header.end(), {8, 2, 0, 0, 0});
    chunk("IHDR", header);
    File raw;
    for (uint32_t y = 0; y < height; ++y) {
      raw.push_back(0);
      for (uint32_t x = 0; x < width * 3; ++x) raw.push_back(sample(x, y));
    }
    File data{0x78, 0x01, 0x01};
    const auto size = static_cast<uint16_t>(raw.size());
    for (const uint16_t value : {size, static_cast<uint16_t>(~size)}) {
      data.push_back(static_cast<uint8_t>(value));
      data.push_back(static_cast<uint8_t>(value >> 8));
    }
    uint32_t a = 1, b = 0;
    for (const uint8_t byte : raw) a = (a + byte) % 65521, b = (b + a) % 65521;
    data.insert(data.end(), raw.begin(), raw.end());
    put(data, b << 16 | a);
    chunk("IDAT", data);
    chunk("IEND", {});
  }
  static uint8_t sample(uint32_t x, uint32_t y) { return static_cast<uint8_t>(x * 7 + y * 31); }

  File bytes;

 private:
  static void put(File& to, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<uint8_t>(value >> shift));
  }
  void chunk(const std::string& name, const File& data) {
    put(bytes, static_cast<uint32_t>(data.size()));
    const size_t begin = bytes.size();
    bytes.insert(bytes.end(), name.begin(), name.end());
    bytes.insert(bytes.end(), data.begin(), data.end());
    uint32_t crc = ~0u;
    for (size_t i = begin; i < bytes.size(); ++i) {
      crc ^= bytes[i];
      for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    put(bytes, ~crc);
  }
};

TEST(PngTest, pixels_come_back_exactly) {
  const PngFile png(13, 7);
  const auto info = png_info(png.bytes);
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_EQ(info->width, 13u);
  EXPECT_EQ(info->height, 7u);
  EXPECT_EQ(info->components, 3);
  const OwnPicture to(*find_format(pixel::kRgb888), 13, 7);
  ASSERT_TRUE(decode_png(png.bytes, to.view()).ok());
  for (uint32_t y = 0; y < 7; ++y)
    for (uint32_t x = 0; x < 39; ++x)
      ASSERT_EQ(to.view().plane(0).row(y)[x], PngFile::sample(x, y)) << x << "," << y;
}

TEST(PngTest, a_file_cut_off_anywhere_or_with_a_wrong_byte_fails) {
  const File good = PngFile(13, 7).bytes;
  const OwnPicture to(*find_format(pixel::kRgb888), 13, 7);
  for (size_t n = 0; n < good.size() - 12; ++n)
    EXPECT_EQ(decode_png({good.data(), n}, to.view()).code(), Code::file_invalid) << n;
  for (size_t at = 41; at < good.size() - 16; at += 5) {
    File bad = good;
    bad[at] ^= 0x10;
    EXPECT_EQ(decode_png(bad, to.view()).code(), Code::file_invalid) << at;
  }
  EXPECT_TRUE(decode_png(good, to.view()).ok()) << "and the next file is read";
}

TEST(PngTest, sizes_the_unit_does_not_take_are_refused_before_any_memory_is) {
  EXPECT_EQ(png_info(PngFile(8193, 1).bytes).status().code(), Code::invalid_argument);
  EXPECT_EQ(png_info(PngFile(0, 1).bytes).status().code(), Code::file_invalid);
}

TEST(ImageTest, nothing_and_noise_are_no_files) {
  File noise(4096);
  uint32_t state = 7;
  for (uint8_t& byte : noise)
    byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  for (const File& file : {File{}, File{0xff}, noise}) {
    EXPECT_EQ(jpeg_info(file).status().code(), Code::file_invalid);
    EXPECT_EQ(png_info(file).status().code(), Code::file_invalid);
  }
}

}  // namespace
}  // namespace anynpu::media
#endif
