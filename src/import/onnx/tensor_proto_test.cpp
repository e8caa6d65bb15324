// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/tensor_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

TEST(OnnxTensor, EveryTypedListIsRead) {
  struct Case {
    int type;
    uint32_t field;
    DType dtype;
    size_t bytes;
  };
  // Two elements each, stored in the list that onnx.proto names for the type.
  for (const Case& c :
       {Case{6, 5, DType::i32, 8}, Case{3, 5, DType::i8, 2}, Case{2, 5, DType::u8, 2},
        Case{5, 5, DType::i16, 4}, Case{4, 5, DType::u16, 4}, Case{9, 5, DType::boolean, 2},
        Case{10, 5, DType::f16, 4}, Case{16, 5, DType::bf16, 4}, Case{7, 7, DType::i64, 16},
        Case{12, 11, DType::u32, 8}, Case{13, 11, DType::u64, 16}}) {
    WireWriter tensor;
    tensor.integer(1, 2);
    tensor.integer(2, c.type);
    tensor.packed(c.field, std::vector<int64_t>{1, 0});
    auto result = read(tensor);
    ASSERT_TRUE(result.ok()) << c.type << " " << result.status().to_string();
    EXPECT_EQ(result->dtype, c.dtype);
    ASSERT_EQ(result->data->bytes.size(), c.bytes) << c.type;
    EXPECT_EQ(result->data->bytes[0], std::byte{1});
  }
  WireWriter floats;
  floats.integer(1, 2);
  floats.integer(2, 1);
  floats.packed(4, std::vector<float>{0.5f, -1.0f});
  EXPECT_EQ(elements<float>(*read(floats)), (std::vector<float>{0.5f, -1.0f}));
  WireWriter doubles;
  doubles.integer(1, 1);
  doubles.integer(2, 11);
  doubles.real(10, 2.5);
  EXPECT_EQ(elements<double>(*read(doubles)), (std::vector<double>{2.5}));
  WireWriter complex;
  complex.integer(1, 1);
  complex.integer(2, 14);
  complex.packed(4, std::vector<float>{1.0f, 2.0f});
  EXPECT_EQ(read(complex)->dtype, DType::c64);
}

TEST(OnnxTensor, FourBitIntegersStayPacked) {
  WireWriter tensor;
  tensor.integer(1, 3);
  tensor.integer(2, 22);
  tensor.text(9, "\x21\x03");
  auto result = read(tensor);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ(result->dtype, DType::i4);
  EXPECT_EQ(result->data->bytes.size(), 2u);
}

TEST(OnnxTensor, StringsHaveHeadsAndCharacters) {
  WireWriter tensor;
  tensor.integer(1, 2);
  tensor.integer(2, 8);
  tensor.text(6, "ab");
  tensor.text(6, "c");
  auto result = read(tensor);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ(result->data->bytes.size(), 2u * 16 + 3);
  EXPECT_EQ(elements<uint64_t>(*result)[3], 1u);
}

TEST(OnnxTensor, WrongSizesNegativeAndHugeDimsAndUnknownTypesAreRefused) {
  const auto with = [](std::vector<int64_t> dims, int type, const std::string& raw) {
    WireWriter tensor;
    tensor.packed(1, dims);
    tensor.integer(2, type);
    tensor.text(8, "bad");
    tensor.text(9, raw);
    return read(tensor).status();
  };
  EXPECT_EQ(with({2}, 1, "1234567").code(), Code::corrupt_model);
  EXPECT_EQ(with({-1}, 1, "").code(), Code::corrupt_model);
  EXPECT_FALSE(with({int64_t{1} << 40, int64_t{1} << 40}, 1, "").ok());
  EXPECT_EQ(with({int64_t{1} << 60}, 1, "").code(), Code::corrupt_model);
  EXPECT_EQ(with({1}, 18, "1").code(), Code::unsupported_dtype);
  EXPECT_NE(
      with({2}, 1, "1234567").message().find("'bad' (float32 2) has 7 bytes of data, expected 8"),
      std::string::npos);
  EXPECT_TRUE(with({0, 5}, 1, "").ok());
}

}  // namespace
}  // namespace anynpu::onnx
