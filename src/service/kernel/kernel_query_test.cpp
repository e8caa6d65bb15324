// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_query.h"

#include <gtest/gtest.h>

#include "device/memory.h"
#include "device/runtime.h"
#include "service/failure/device_faults.h"
#include "service/kernel/kernel_for_test.h"
#include "service/kernel/kernel_launch.h"

namespace anynpu::service {
namespace {

class KernelQuery : public KernelServiceTest {};

TEST_F(KernelQuery, AFunctionKnowsItsBinaryAndItsSize) {
  EXPECT_EQ(*binary_of(function("store")), Handle{binary_});
  EXPECT_GT(*code_bytes(function("copy")), 0u);
  const KernelMemory memory = binary_memory(binary_).value();
  EXPECT_NE(memory.address, nullptr);
  EXPECT_GT(memory.bytes, *code_bytes(function("copy")));
  EXPECT_EQ(binary_of(0).status().code(), Code::invalid_handle);
}

TEST_F(KernelQuery, WhatIsNotThereHasItsOwnCause) {
  EXPECT_EQ(find_variable(binary_, "nothing").status().code(), Code::unknown_symbol);
  EXPECT_EQ(find_variable(binary_, nullptr).status().code(), Code::invalid_argument);
  EXPECT_EQ(parameter_places(function("store")).status().code(), Code::unsupported_feature)
      << "compiled without -g";
  int symbol = 0;
  EXPECT_EQ(function_named(&symbol).status().code(), Code::invalid_device_function);
  EXPECT_EQ(function_named(nullptr).status().code(), Code::invalid_argument);
  const Handle store = function("store");
  EXPECT_EQ(*function_named(reinterpret_cast<const void*>(store)), store);
}

TEST_F(KernelQuery, TheCallbackOfABinaryIsToldOfItsFailures) {
  int calls = 0;
  TaskException told;
  ASSERT_TRUE(set_binary_callback(binary_, [&](Handle info) {
                ++calls;
                told = *resolve<TaskException>(info).value();
                uint64_t first = 0;
                EXPECT_TRUE(device::copy({&first, 8, told.arguments, 8}).ok());
                EXPECT_EQ(first, 0u);
              }).ok());
  const Handle store = function("store");
  const auto read = [&](const exec::DeviceKernel& kernel, exec::KernelLaunch& launch) {
    launch.arguments.push_back({exec::KernelArgument::Kind::word, 0, 0});
    launch.arguments.push_back({exec::KernelArgument::Kind::word, 5, 0});
    return Status();
  };
  ASSERT_TRUE(submit_kernel(store, 1, 0, read).ok());
  EXPECT_FALSE(device::Runtime::instance().stream(0).value()->synchronize().ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(told.function, store);
  EXPECT_EQ(told.argument_bytes, 16u);
  EXPECT_EQ(told.code, Code::kernel_failed);
  EXPECT_EQ(fault_of(0), DeviceFault::core);
  forget_fault(0);
  EXPECT_TRUE(set_binary_callback(binary_, {}).ok());
}

}  // namespace
}  // namespace anynpu::service
