// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Weights> read(const std::string& bytes) {
  return read_weights(std::as_bytes(std::span(bytes)));
}

TEST(CaffeWeights, BlobsAreFoundByTheNameOfTheirLayer) {
  const auto weights = read(weights_of("conv", {3, 2}));
  ASSERT_TRUE(weights.ok()) << weights.status().to_string();
  const Blob& blob = weights->find("conv")->second[0];
  EXPECT_EQ(blob.shape, (Shape{3, 2}));
  EXPECT_EQ(blob.data->size(), 6u);
}

TEST(CaffeWeights, AFileWithoutLayersAndOneOfHdf5AreRefused) {
  EXPECT_FALSE(read("").ok());
  EXPECT_THAT(read("\x89HDF\r\n\x1a\n0000").status().message(), HasSubstr("HDF5"));
}

TEST(CaffeWeights, ABlobOfAnotherSizeIsRefused) {
  WireWriter dims, blob, body, net;
  dims.packed(1, std::vector<int64_t>{2, 2});
  blob.message(7, dims);
  blob.packed(5, std::vector<float>{1, 2, 3});
  body.text(1, "l");
  body.message(7, blob);
  net.message(100, body);
  EXPECT_THAT(read(net.data()).status().to_string(), HasSubstr("holds 3 numbers"));
}

}  // namespace
}  // namespace anynpu::caffe
