// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_launch.h"

#include <gtest/gtest.h>

#include <cstring>

#include "service/kernel/kernel_args.h"
#include "service/kernel/kernel_for_test.h"

namespace anynpu::service {
namespace {

class KernelLaunchTest : public KernelServiceTest {
 protected:
  static Status synchronize() {
    ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(0));
    return stream->synchronize();
  }
  // Fills a launch of "store": this word goes to `place_`.
  ReadLaunch storing(uint32_t word, exec::KernelRegion::Back back) {
    return [this, word, back](const exec::DeviceKernel&, exec::KernelLaunch& launch) -> Status {
      launch.regions.push_back(
          {reinterpret_cast<std::byte*>(&place_), sizeof place_, back, nullptr});
      using Kind = exec::KernelArgument::Kind;
      launch.arguments = {{Kind::region, 0, 0}, {Kind::word, word, 0}};
      return {};
    };
  }
  // A list of arguments for "store" with one word and room for another.
  const void* list_for(const char* name) {
    return reinterpret_cast<const void*>(open_kernel_args(function(name)).value());
  }

  uint32_t place_ = 0;
};

TEST_F(KernelLaunchTest, TheKernelRunsAsATaskOfTheStream) {
  ASSERT_TRUE(
      submit_kernel(function("store"), 1, 0, storing(77, exec::KernelRegion::Back::all)).ok());
  const Status status = synchronize();
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(place_, 77u);
}

TEST_F(KernelLaunchTest, WhatALaunchNeedsIsReadBeforeTheCallReturns) {
  bool read = false;
  const auto refuse = [&](const exec::DeviceKernel& kernel, exec::KernelLaunch&) {
    read = true;
    return fail(Code::unaligned_address, "argument of {}", kernel.name());
  };
  const Status status = submit_kernel(function("store"), 1, 0, refuse);
  EXPECT_TRUE(read);
  EXPECT_EQ(status.code(), Code::unaligned_address);
  EXPECT_NE(status.to_string().find("'store'"), std::string::npos) << status.to_string();
  EXPECT_TRUE(synchronize().ok()) << "nothing was queued";
}

TEST_F(KernelLaunchTest, FunctionBlocksAndStreamAreChecked) {
  const auto nothing = [](const exec::DeviceKernel&, exec::KernelLaunch&) { return Status(); };
  EXPECT_EQ(submit_kernel(12, 1, 0, nothing).code(), Code::invalid_handle);
  EXPECT_EQ(submit_kernel(function("store"), 0, 0, nothing).code(), Code::invalid_argument);
  EXPECT_FALSE(submit_kernel(function("store"), 1, 12, nothing).ok());
}

TEST_F(KernelLaunchTest, AListIsReadWhenItIsFinishedAndOfThisKernel) {
  const void* list = list_for("store");
  const uint32_t word = 5;
  ASSERT_TRUE(append_kernel_arg(list, &word, sizeof word).ok());
  const Handle holder = append_place_holder(list).value();
  std::memcpy(place_holder_memory(list, holder, 3).value(), "abc", 3);
  exec::KernelLaunch launch;
  EXPECT_EQ(read_args(*kernel("store"), list, launch).code(), Code::bad_call_order);
  ASSERT_TRUE(finish_kernel_args(list).ok());
  EXPECT_EQ(read_args(*kernel("show"), list, launch).code(), Code::invalid_argument);
  ASSERT_TRUE(read_args(*kernel("store"), list, launch).ok());
  ASSERT_EQ(launch.arguments.size(), 2u);
  EXPECT_EQ(launch.arguments[0].kind, exec::KernelArgument::Kind::word);
  EXPECT_EQ(launch.arguments[0].word, 5u);
  EXPECT_EQ(launch.arguments[1].kind, exec::KernelArgument::Kind::copy);
  ASSERT_EQ(launch.copies.size(), 1u);
  EXPECT_EQ(std::memcmp(launch.copies[0].data(), "abc", 3), 0);
}

TEST_F(KernelLaunchTest, ArgumentsAreReadFromMemoryOfTheProgram) {
  const char bytes[4] = {};
  EXPECT_EQ(read_args_memory(bytes, 4, "args")->size(), 4u);
  EXPECT_TRUE(read_args_memory(nullptr, 0, "args")->empty());
  EXPECT_FALSE(read_args_memory(nullptr, 4, "args").ok());
  EXPECT_EQ(read_args_memory(bytes, size_t{1} << 27, "args").status().code(),
            Code::invalid_argument);
}

TEST_F(KernelLaunchTest, ACheckerIsToldOnceWhichMemoryTheNextLaunchTouched) {
  std::vector<exec::KernelPiece> pieces;
  int calls = 0;
  watch_next_launch([&](std::span<const exec::KernelPiece> touched) {
    pieces.assign(touched.begin(), touched.end());
    ++calls;
  });
  for (uint32_t word : {1u, 2u}) {
    ASSERT_TRUE(
        submit_kernel(function("store"), 1, 0, storing(word, exec::KernelRegion::Back::changed))
            .ok());
    ASSERT_TRUE(synchronize().ok());
  }
  EXPECT_EQ(place_, 2u);
  EXPECT_EQ(calls, 1);
  ASSERT_FALSE(pieces.empty());
  EXPECT_EQ(pieces[0].data, reinterpret_cast<std::byte*>(&place_));
}

}  // namespace
}  // namespace anynpu::service
