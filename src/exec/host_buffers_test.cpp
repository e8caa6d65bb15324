// SPDX-License-Identifier: Apache-2.0
#include "exec/host_buffers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/memory.h"
#include "device/remote_device_for_test.h"
#include "exec/runner.h"

namespace anynpu::exec {
namespace {

using Buffers = std::span<const Buffer>;

class HostBuffersTest : public testing::Test {
 protected:
  void SetUp() override {
    block_ = *device::allocate_device(device_, 8, {});
    ASSERT_TRUE(device::copy_bytes(block_, std::vector<float>{5, 6}.data(), 8).ok());
  }
  void TearDown() override { EXPECT_TRUE(device::free_device(block_).ok()); }

  device::RemoteDevice device_{0};
  void* block_ = nullptr;  // the host cannot read it
};

TEST_F(HostBuffersTest, TheRunGetsAddressesThatTheHostCanUse) {
  float host = 10;
  const Buffer in[] = {{block_, 8}}, out[] = {{&host, 4}, {block_, 8}};
  HostBuffers buffers(in, out);
  const Status status = buffers.run([&](Buffers inputs, Buffers outputs) {
    EXPECT_EQ(inputs.size(), 1u);
    EXPECT_EQ(outputs.size(), 2u);
    EXPECT_NE(inputs[0].data, block_);
    EXPECT_EQ(outputs[0].data, &host) << "memory of the host stays where it is";
    const auto* const x = static_cast<const float*>(inputs[0].data);
    host += x[0] + x[1];
    return Status();
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(host, 21);
}

TEST_F(HostBuffersTest, WhatIsWrittenReachesTheDevice) {
  const Buffer out[] = {{block_, 8}};
  HostBuffers buffers({}, out);
  ASSERT_TRUE(buffers
                  .run([&](Buffers, Buffers outputs) {
                    static_cast<float*>(outputs[0].data)[1] = 7;
                    return Status();
                  })
                  .ok());
  std::vector<float> seen(2);
  ASSERT_TRUE(device::copy_bytes(seen.data(), block_, 8).ok());
  EXPECT_EQ(seen, (std::vector<float>{5, 7}));
}

TEST_F(HostBuffersTest, TheAddressesOfAFailedStepAreThoseOfTheProgram) {
  const int elsewhere = 0;
  const Buffer in[] = {{block_, 8}};
  HostBuffers buffers(in, {});
  const Status status = buffers.run([&](Buffers inputs, Buffers) {
    const auto* const seen = static_cast<const std::byte*>(inputs[0].data);
    set_failed_addresses({.inputs = {seen, seen + 4, &elsewhere}, .outputs = {}});
    return fail(Code::task_failed, "no");
  });
  EXPECT_EQ(status.code(), Code::task_failed);
  auto* const block = static_cast<std::byte*>(block_);
  EXPECT_EQ(failed_addresses().inputs, (std::vector<const void*>{block, block + 4, &elsewhere}));
  set_failed_addresses({});
}

}  // namespace
}  // namespace anynpu::exec
