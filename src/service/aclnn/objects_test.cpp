// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/objects.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

ViewRequest request(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
                    int64_t offset, const std::vector<int64_t>& storage) {
  return {
      dims.data(),    dims.size(),    0,      strides.empty() ? nullptr : strides.data(), offset, 2,
      storage.data(), storage.size(), nullptr};
}

TEST(NnObjects, AViewWithoutStridesIsContiguous) {
  const auto view = make_view(request({2, 3}, {}, 0, {6}));
  ASSERT_TRUE(view.ok()) << view.status().to_string();
  EXPECT_EQ(view->strides.shape(), (Shape{3, 1}));
  EXPECT_TRUE(view->contiguous());
  EXPECT_EQ(view->count(), 6);
}

TEST(NnObjects, AViewMayNotLeaveItsStorage) {
  EXPECT_TRUE(make_view(request({2, 3}, {1, 2}, 0, {6})).ok());
  EXPECT_EQ(make_view(request({2, 3}, {1, 2}, 1, {6})).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_view(request({2}, {-1}, 0, {6})).status().code(), Code::invalid_argument);
  EXPECT_TRUE(make_view(request({0, 9}, {}, 0, {0})).ok());  // nothing of an empty one
}

TEST(NnObjects, RefusesTooManyAxesAndNegativeExtents) {
  EXPECT_EQ(make_view(request(std::vector<int64_t>(40, 1), {}, 0, {1})).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(make_view(request({-1}, {}, 0, {1})).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_view(request({int64_t{1} << 40, int64_t{1} << 40}, {}, 0, {})).status().code(),
            Code::invalid_argument);
}

TEST(NnObjects, SizesThatOverflowAreRefused) {
  const int64_t half = int64_t{1} << 32;  // of 64 bits: the product is 0
  EXPECT_EQ(make_view(request({half, half}, {}, 0, {})).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_view(request({half, half, half}, {0, 0, 0}, 0, {})).status().code(),
            Code::invalid_argument);
  for (const int64_t offset : {INT64_MIN, INT64_MIN + 1, int64_t{-1}, INT64_MAX}) {
    EXPECT_EQ(make_view(request({2}, {-1}, offset, {})).status().code(), Code::invalid_argument)
        << offset;
  }
}

TEST(NnObjects, AListTakesItsTensorsOver) {
  const Handle tensor = *create_nn_tensor(request({2}, {}, 0, {2}));
  const void* items[] = {reinterpret_cast<const void*>(tensor), nullptr};
  const Handle list = *create_nn_tensors(items, 2);
  EXPECT_TRUE(HandleTable::instance().find<NnTensor>(tensor));
  EXPECT_TRUE(destroy_nn_object<NnTensors>(list).ok());
  EXPECT_FALSE(HandleTable::instance().find<NnTensor>(tensor));
  EXPECT_EQ(destroy_nn_object<NnTensor>(tensor).code(), Code::invalid_handle);
}

TEST(NnObjects, AWeightInBlocksIsRoundedUp) {
  EXPECT_EQ(*matmul_weight_size(std::vector<int64_t>{32, 48}), 32u * 48);
  EXPECT_EQ(*matmul_weight_size(std::vector<int64_t>{3, 17, 1}), 3u * 32 * 16);
  EXPECT_EQ(*matmul_weight_size(std::vector<int64_t>{0, 5}), 0u);
  EXPECT_FALSE(matmul_weight_size(std::vector<int64_t>{5}).ok());
  EXPECT_FALSE(matmul_weight_size(std::vector<int64_t>{5, -1}).ok());
  EXPECT_FALSE(matmul_weight_size(std::vector<int64_t>{int64_t{1} << 40, int64_t{1} << 40}).ok());
}

TEST(NnObjects, NullIsDestroyedWithoutAWord) {
  EXPECT_TRUE(destroy_nn_object<NnTensor>(0).ok());
  EXPECT_TRUE(destroy_nn_object<NnTensors>(0).ok());
}

TEST(NnObjects, ScalarsKeepTheirValueInAnyType) {
  const double value = 2.75;
  const auto scalar = aclnn::make_scalar(&value, DType::f64);
  ASSERT_TRUE(scalar.ok());
  EXPECT_EQ(aclnn::converted(*scalar, DType::f32).real(), 2.75);
  EXPECT_EQ(aclnn::converted(*scalar, DType::i64).integer(), 2);
  EXPECT_TRUE(aclnn::converted(*scalar, DType::boolean).truth());
  const int64_t large = (int64_t{1} << 53) + 1;
  EXPECT_EQ(aclnn::converted(*aclnn::make_scalar(&large, DType::i64), DType::i64).integer(), large);
  EXPECT_EQ(aclnn::make_scalar(&value, DType::string).status().code(), Code::unsupported_dtype);
}

}  // namespace
}  // namespace anynpu::service
