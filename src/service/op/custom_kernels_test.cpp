// SPDX-License-Identifier: Apache-2.0
#include "service/op/custom_kernels.h"

#include <gtest/gtest.h>

#include "service/finalize.h"

namespace anynpu::service {
namespace {

void some_selector() {}

TEST(CustomKernels, AnOperatorHasOneSelectorUntilTheEnd) {
  EXPECT_EQ(add_selector("", some_selector).code(), Code::invalid_argument);
  EXPECT_EQ(add_selector("Mine", nullptr).code(), Code::invalid_argument);
  EXPECT_EQ(find_selector("Mine").status().code(), Code::unsupported_op);
  EXPECT_TRUE(add_selector("Mine", some_selector).ok());
  EXPECT_EQ(add_selector("Mine", some_selector).code(), Code::already_exists);
  EXPECT_EQ(find_selector("Mine").value(), some_selector);
  EXPECT_TRUE(remove_selector("Mine").ok());
  EXPECT_EQ(remove_selector("Mine").code(), Code::invalid_argument);
  EXPECT_TRUE(add_selector("Mine", some_selector).ok());
  run_finalizers();
  EXPECT_EQ(find_selector("Mine").status().code(), Code::unsupported_op);
}

TEST(CustomKernels, ASelectorChoosesThroughItsHandle) {
  Handle handle = 0;
  {
    OpenKernelDesc desc;
    handle = desc.handle();
    singleop::SingleOp op;
    op.type = "Mine";
    EXPECT_EQ(apply_choice(op, *desc).code(), Code::bad_call_order);
    const char tiling[] = "1234";
    EXPECT_EQ(choose_kernel(handle, "id", 1, tiling, (1u << 20) + 1).code(),
              Code::invalid_argument);
    EXPECT_TRUE(choose_kernel(handle, "id", 1, tiling, 4).ok());
    EXPECT_EQ((*desc).choice.tiling.size(), 4u);
    const size_t sizes[] = {8, size_t{1} << 31};
    EXPECT_EQ(choose_workspaces(handle, 2, sizes).code(), Code::invalid_argument);
    EXPECT_TRUE(choose_workspaces(handle, 1, sizes).ok());
    EXPECT_EQ((*desc).choice.workspaces.size(), 1u);
  }
  EXPECT_EQ(choose_workspaces(handle, 0, nullptr).code(), Code::invalid_handle);
}

}  // namespace
}  // namespace anynpu::service
