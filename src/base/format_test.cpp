// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anynpu {
namespace {

enum class Colour : uint8_t { red = 3, blue = 200 };
enum Old { kOld = -7 };

TEST(Format, integers_of_every_width_print_as_numbers) {
  EXPECT_EQ(format("{} {} {}", int8_t{-1}, uint8_t{200}, int16_t{-300}), "-1 200 -300");
  EXPECT_EQ(format("{} {}", std::numeric_limits<int64_t>::min(), ~uint64_t{0}),
            "-9223372036854775808 18446744073709551615");
  EXPECT_EQ(format("{} {}", 1L, 2ULL), "1 2");
}

TEST(Format, enums_print_as_their_numbers) {
  EXPECT_EQ(format("{} {} {}", Colour::red, Colour::blue, kOld), "3 200 -7");
}

TEST(Format, truth_values_characters_and_texts_print_as_themselves) {
  const std::string text = "a string";
  const char* none = nullptr;
  char array[] = "array";
  EXPECT_EQ(format("{} {} {}", true, false, 'c'), "true false c");
  EXPECT_EQ(format("{}, {}, {}, {}", text, std::string_view("view"), "literal", array),
            "a string, view, literal, array");
  EXPECT_EQ(format("{}", none), "(null)");
  EXPECT_EQ(format("{}", std::string_view()), "");
  EXPECT_EQ(format("{}", std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Format, floats_have_six_significant_digits) {
  EXPECT_EQ(format("{} {} {} {}", 0.0, 1.0, -1.5, 0.1f), "0 1 -1.5 0.1");
  EXPECT_EQ(format("{} {} {}", 123456.0, 1234567.0, 123456.5), "123456 1.23457e+06 123456");
  EXPECT_EQ(format("{} {} {}", 1e-4, 1e-5, 1.0 / 3), "0.0001 1e-05 0.333333");
  EXPECT_EQ(format("{} {} {}", 1e100, 5e-324, -0.0), "1e+100 4.94066e-324 -0");
  EXPECT_EQ(format("{} {} {}", INFINITY, -INFINITY, std::nan("")), "inf -inf nan");
  EXPECT_EQ(format("{} {}", 2.5e6, 999999.5), "2.5e+06 1e+06");
}

TEST(Format, pointers_print_in_hex) {
  int* number = reinterpret_cast<int*>(0x1234abcd);
  EXPECT_EQ(format("{} {}", number, static_cast<const void*>(number)), "0x1234abcd 0x1234abcd");
  EXPECT_EQ(format("{}", static_cast<void*>(nullptr)), "0x0");
}

TEST(Format, lists_of_integers_print_in_brackets) {
  EXPECT_EQ(format("{}", std::vector<int64_t>{1, 3, 224}), "[1, 3, 224]");
  EXPECT_EQ(format("{} {}", std::vector<int64_t>{}, std::vector<int64_t>{-1}), "[] [-1]");
}

TEST(Format, hex_has_its_prefix) {
  EXPECT_EQ(format("{:#x} {:#x} {:#x}", 255u, uint8_t{10}, 0), "0xff 0xa 0x0");
  EXPECT_EQ(format("{:#x}", ~uint64_t{0}), "0xffffffffffffffff");
}

TEST(Format, doubled_braces_are_braces) {
  EXPECT_EQ(format("{{}} {}}}{{", 1), "{} 1}{");
  EXPECT_EQ(format("no argument"), "no argument");
}

}  // namespace
}  // namespace anynpu
