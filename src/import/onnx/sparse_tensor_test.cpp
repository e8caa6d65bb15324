// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Tensor> read_sparse(const WireWriter& sparse) {
  std::string text;
  const WireField field = field_of(sparse, text);
  Source source{std::make_shared<const std::string>(text), {}, {}};
  return read_sparse_tensor(field, source);
}

TEST(SparseTensor, BecomesDense) {
  const auto tensor = read_sparse(sparse_tensor("s"));
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(tensor->name, "s");
  EXPECT_EQ(tensor->shape, (Shape{3}));
  EXPECT_THAT(elements<float>(*tensor), ElementsAre(0, 7, 0));
}

TEST(SparseTensor, AnIndexOutsideIsRefused) {
  WireWriter indices, sparse;
  indices.integer(1, 1);
  indices.integer(2, 7);
  indices.packed(7, std::vector<int64_t>{3});
  sparse.message(1, raw_tensor("s", {7}));
  sparse.message(2, indices);
  sparse.integer(3, 3);
  EXPECT_THAT(read_sparse(sparse).status().message(), HasSubstr("value 0 of 1 stands outside"));
}

TEST(SparseTensor, AFewBytesDoNotBecomeGigabytes) {
  WireWriter sparse = sparse_tensor("s");
  sparse.integer(3, int64_t{1} << 40);
  EXPECT_FALSE(read_sparse(sparse).ok());
}

}  // namespace
}  // namespace anynpu::onnx
