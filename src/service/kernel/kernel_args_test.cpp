// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_args.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

// A function without a kernel: enough for its lists of arguments.
Handle make_function() {
  return HandleTable::instance().insert(std::make_shared<KernelFunction>());
}

TEST(KernelArgs, AListTakesArgumentsUntilItIsFinished) {
  const Handle function = make_function();
  const auto* list = reinterpret_cast<const void*>(open_kernel_args(function).value());
  int value = 7;
  const Handle first = append_kernel_arg(list, &value, sizeof value).value();
  const Handle holder = append_place_holder(list).value();
  EXPECT_EQ(finish_kernel_args(list).code(), Code::bad_call_order) << "a place holder has no data";
  EXPECT_EQ(place_holder_memory(list, first, 8).status().code(), Code::invalid_argument);
  EXPECT_NE(place_holder_memory(list, holder, 8).value(), nullptr);
  EXPECT_TRUE(finish_kernel_args(list).ok());
  EXPECT_EQ(append_place_holder(list).status().code(), Code::bad_call_order);
  EXPECT_TRUE(update_kernel_arg(list, first, &value, sizeof value).ok());
  EXPECT_EQ(update_kernel_arg(list, first, &value, 1).code(), Code::invalid_argument);
  HandleTable::instance().remove<KernelFunction>(function);
  EXPECT_EQ(finish_kernel_args(list).code(), Code::invalid_handle) << "ends with its function";
}

TEST(KernelArgs, AListMayLieInMemoryOfTheProgram) {
  const Handle function = make_function();
  alignas(8) std::byte memory[64], handle[64];
  ASSERT_LE(kernel_args_handle_bytes(function).value(), sizeof handle);
  EXPECT_GT(kernel_args_bytes(function, 16).value(), 16u);
  EXPECT_EQ(find_args(handle).status().code(), Code::invalid_handle);
  EXPECT_TRUE(open_kernel_args_in(function, handle, memory, sizeof memory).ok());
  const uint64_t words[9] = {};
  EXPECT_EQ(append_kernel_arg(handle, words, sizeof words).status().code(), Code::limit_exceeded);
  EXPECT_TRUE(append_kernel_arg(handle, words, sizeof memory).ok());
  EXPECT_EQ(open_kernel_args_in(function, handle, memory, 0).code(), Code::invalid_argument);
  HandleTable::instance().remove<KernelFunction>(function);
}

}  // namespace
}  // namespace anynpu::service
