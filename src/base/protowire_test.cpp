// SPDX-License-Identifier: Apache-2.0
#include "base/protowire.h"

#include <gtest/gtest.h>

#include <random>

namespace anynpu {
namespace {

std::span<const std::byte> view(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(ProtoWire, EveryKindOfFieldComesBackAsWritten) {
  WireWriter inner;
  inner.text(1, "inside");
  WireWriter writer;
  writer.integer(1, -5);
  writer.real(2, 1.5f);
  writer.real(3, 2.25);
  writer.text(4, "name");
  writer.packed(5, std::vector<int64_t>{0, -1, 300});
  writer.packed(6, std::vector<float>{0.5f, -2.0f});
  writer.message(7, inner);

  WireReader reader(view(writer.data()));
  WireField field;
  int64_t i = 0;
  float f = 0;
  double d = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::string nested;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        EXPECT_TRUE(field.to(i).ok());
        break;
      case 2:
        EXPECT_TRUE(field.to(f).ok());
        break;
      case 3:
        EXPECT_TRUE(field.to(d).ok());
        break;
      case 4:
        EXPECT_TRUE(field.to(s).ok());
        break;
      case 5:
        EXPECT_TRUE(field.append_to(ints).ok());
        break;
      case 6:
        EXPECT_TRUE(field.append_to(floats).ok());
        break;
      case 7: {
        WireReader in(field);
        WireField leaf;
        ASSERT_TRUE(in.next(leaf));
        EXPECT_TRUE(leaf.to(nested).ok());
        break;
      }
    }
  }
  EXPECT_TRUE(reader.status().ok());
  EXPECT_EQ(i, -5);
  EXPECT_EQ(f, 1.5f);
  EXPECT_EQ(d, 2.25);
  EXPECT_EQ(s, "name");
  EXPECT_EQ(ints, (std::vector<int64_t>{0, -1, 300}));
  EXPECT_EQ(floats, (std::vector<float>{0.5f, -2.0f}));
  EXPECT_EQ(nested, "inside");
}

TEST(ProtoWire, UnpackedRepeatedScalarsAreReadToo) {
  WireWriter writer;
  writer.integer(1, 7);
  writer.integer(1, 9);
  WireReader reader(view(writer.data()));
  WireField field;
  std::vector<int64_t> ints;
  while (reader.next(field)) ASSERT_TRUE(field.append_to(ints).ok());
  EXPECT_EQ(ints, (std::vector<int64_t>{7, 9}));
}

TEST(ProtoWire, AFieldThatRunsOverTheEndIsAnErrorWithItsOffset) {
  WireWriter writer;
  writer.integer(1, 1);
  writer.text(2, "twelve bytes");
  const std::string whole = writer.data();
  for (size_t size = 3; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    WireReader reader(view(part));
    WireField field;
    while (reader.next(field)) {
    }
    EXPECT_EQ(reader.status().code(), Code::parse_error) << size;
    EXPECT_NE(reader.status().message().find("offset"), std::string::npos);
  }
}

TEST(ProtoWire, HugeLengthsOverlongVarintsGroupsAndFieldZeroAreRefused) {
  const std::vector<std::string> bad = {
      std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
      std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11), std::string("\x0b", 1),
      std::string("\x00\x00", 2), std::string("\x0f", 1)};
  for (const std::string& text : bad) {
    WireReader reader(view(text));
    WireField field;
    EXPECT_FALSE(reader.next(field));
    EXPECT_EQ(reader.status().code(), Code::parse_error);
    EXPECT_FALSE(reader.next(field)) << "stays stopped";
  }
}

TEST(ProtoWire, AWrongWireTypeNamesBothTypes) {
  WireWriter writer;
  writer.text(3, "x");
  WireReader reader(view(writer.data()));
  WireField field;
  ASSERT_TRUE(reader.next(field));
  int64_t number = 0;
  const Status status = field.to(number);
  EXPECT_NE(status.message().find("is length-delimited, expected varint"), std::string::npos);
}

TEST(ProtoWire, NestingPastTheLimitIsRefused) {
  std::string text;
  for (int i = 0; i < kMaxWireDepth + 2; ++i) {
    WireWriter outer;
    outer.text(1, text);
    text = outer.take();
  }
  WireReader reader(view(text));
  WireField field;
  int levels = 0;
  while (reader.next(field)) {
    reader = WireReader(field);
    ++levels;
  }
  EXPECT_EQ(levels, kMaxWireDepth + 1);
  EXPECT_EQ(reader.status().code(), Code::parse_error);
}

TEST(ProtoWire, RandomBytesNeverReadOutside) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 64, '\0');
    for (char& c : text) c = static_cast<char>(random());
    WireReader reader(view(text));
    WireField field;
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    while (reader.next(field)) {
      (void)field.append_to(ints);
      (void)field.append_to(doubles);
    }
  }
}

}  // namespace
}  // namespace anynpu
