// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_objects.h"

#include <gtest/gtest.h>

#include "service/kernel/kernel_args.h"
#include "service/kernel/kernel_for_test.h"

namespace anynpu::service {
namespace {

class KernelObjectsTest : public KernelServiceTest {};

TEST_F(KernelObjectsTest, AFunctionHasTheSameHandleEachTime) {
  const Handle store = function("store");
  EXPECT_EQ(function("store"), store);
  EXPECT_NE(function("show"), store);
  EXPECT_EQ(kernel("store")->name(), "store");
}

TEST_F(KernelObjectsTest, AnUnknownNameIsAnUnknownKernel) {
  const Status status = find_function(binary_, "stow").status();
  EXPECT_EQ(status.code(), Code::unknown_kernel);
  EXPECT_NE(status.message().find("store"), std::string::npos) << "names those that are there";
  EXPECT_EQ(find_function(0, "store").status().code(), Code::invalid_handle);
}

TEST_F(KernelObjectsTest, FunctionsEndWithTheirBinary) {
  Handle handle = 0;
  {
    const HandleForTest<LoadedBinary> other(std::make_shared<LoadedBinary>());
    other->module = binary_->module;
    handle = find_function(other, "store").value();
    EXPECT_TRUE(resolve<KernelFunction>(handle).ok());
  }
  EXPECT_EQ(resolve<KernelFunction>(handle).status().code(), Code::invalid_handle);
}

TEST_F(KernelObjectsTest, AFunctionKeepsItsNewestLists) {
  const Handle store = function("store");
  const Handle first = open_kernel_args(store).value(), second = open_kernel_args(store).value();
  for (size_t i = 2; i <= KernelFunction::kMostLists; ++i) {
    ASSERT_TRUE(open_kernel_args(store).ok());
  }
  EXPECT_FALSE(resolve<KernelArgs>(first).ok());
  EXPECT_TRUE(resolve<KernelArgs>(second).ok());
}

TEST_F(KernelObjectsTest, ArgumentsEndWithTheirList) {
  const Handle handle = open_kernel_args(function("store")).value();
  const int word = 1;
  const Handle argument =
      append_kernel_arg(reinterpret_cast<const void*>(handle), &word, sizeof word).value();
  EXPECT_TRUE(resolve<KernelParam>(argument).ok());
  HandleTable::instance().remove<KernelArgs>(handle);
  EXPECT_FALSE(resolve<KernelParam>(argument).ok());
}

}  // namespace
}  // namespace anynpu::service
