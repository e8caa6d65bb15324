// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/tensor_proto.h"

#include <cstring>

#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

Result<ConstantTensor> read(const WireWriter& tensor, size_t& spread) {
  WireWriter outer;
  outer.message(1, tensor);
  auto owner = std::make_shared<const std::string>(outer.data());
  WireReader reader(std::as_bytes(std::span(*owner)));
  WireField field;
  reader.next(field);
  return read_tensor(field, owner, spread);
}

TEST(TfTensorProto, TheLastOfAListCountsForTheRest) {
  WireWriter tensor;
  tensor.integer(1, 1);
  tensor.message(2, shape_message({4}));
  tensor.packed(5, std::vector<float>{1.0f, 2.0f});
  size_t spread = 0;
  const auto read_back = read(tensor, spread);
  ASSERT_TRUE(read_back.ok()) << read_back.status().to_string();
  float values[4];
  ASSERT_EQ(read_back.value().data->bytes.size(), sizeof(values));
  std::memcpy(values, read_back.value().data->bytes.data(), sizeof(values));
  EXPECT_EQ(values[1], 2.0f);
  EXPECT_EQ(values[3], 2.0f);
  EXPECT_EQ(spread, sizeof(values));
}

TEST(TfTensorProto, NoElementStandsForZeros) {
  WireWriter tensor;
  tensor.integer(1, 3);
  tensor.message(2, shape_message({2}));
  size_t spread = 0;
  const auto made = read(tensor, spread);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().data->bytes.size(), 8u);
}

TEST(TfTensorProto, AFewBytesThatClaimToBeManyAreRefused) {
  WireWriter tensor;
  tensor.integer(1, 1);
  tensor.message(2, shape_message({1 << 20, 1 << 15}));
  tensor.packed(5, std::vector<float>{1.0f});
  size_t spread = 0;
  EXPECT_EQ(read(tensor, spread).status().code(), Code::limit_exceeded);
}

TEST(TfTensorProto, ContentOfAnotherSizeIsRefused) {
  WireWriter tensor;
  tensor.integer(1, 1);
  tensor.message(2, shape_message({3}));
  tensor.text(4, "12345");
  size_t spread = 0;
  EXPECT_EQ(read(tensor, spread).status().code(), Code::corrupt_model);
}

}  // namespace
}  // namespace anynpu::tensorflow
