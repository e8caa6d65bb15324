// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(VendorOps, AreSortedAndFoundByName) {
  const auto all = vendor_ops();
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].name, all[i].name);
  EXPECT_EQ(find_vendor_op("Conv2D")->name, "Conv2D");
  EXPECT_EQ(find_vendor_op("conv2d"), nullptr);
}

TEST(VendorOps, RoundOftenWhenMoreThanOneOperatorRounds) {
  EXPECT_FALSE(rounds_often(*find_vendor_op("Relu")));
  EXPECT_FALSE(rounds_often({"", "Reshape + Transpose"})) << "moving elements is exact";
  EXPECT_TRUE(rounds_often({"", "Mul + Add"}));
  EXPECT_TRUE(rounds_often({"", "LSTM"})) << "a state goes from step to step";
}

TEST(VendorOps, AreSizedByValuesWhenAnOperatorIs) {
  EXPECT_TRUE(sized_by_values({"", "NonZero + Transpose"}));
  EXPECT_FALSE(sized_by_values({"", "Reshape"})) << "a parameter, not data";
  EXPECT_FALSE(sized_by_values(*find_vendor_op("Relu")));
}

}  // namespace
}  // namespace anynpu::singleop
