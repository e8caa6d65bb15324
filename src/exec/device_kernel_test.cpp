// SPDX-License-Identifier: Apache-2.0
#include "exec/device_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>

#include "device/memory.h"
#include "device/remote_device_for_test.h"
#include "npc/object_for_test.h"
#include "npc/services.h"

namespace anynpu::exec {
namespace {

using testing::HasSubstr;
using Back = KernelRegion::Back;
using Kind = KernelArgument::Kind;

// "store" writes its second word to the address in its first; "copy" copies a word from the first
// address to the second; "trap" asks for a service that is not there.
class DeviceKernelTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("ANYNPU_NPC_INTERPRET", "1", 1);  // translating takes longer than the tests
    const auto object =
        npc::object_of({{"store", {npc::kStoreA1AtA0, npc::kReturn}},
                        {"copy", {npc::kLoadA2AtA0, npc::kStoreA2AtA1, npc::kReturn}},
                        {"trap", {npc::set_a7(2000), npc::kEcall, npc::kReturn}}});
    module_ = DeviceKernel::load(object).value();
    unsetenv("ANYNPU_NPC_INTERPRET");
  }
  static void TearDownTestSuite() { module_ = nullptr; }

  static std::shared_ptr<DeviceKernel> kernel(const char* name) {
    return DeviceKernel::find(module_, name).value();
  }
  static KernelRegion region(void* data, size_t bytes, Back back) {
    return {static_cast<std::byte*>(data), bytes, back, nullptr};
  }

  static inline std::shared_ptr<npc::Module> module_;
};

TEST_F(DeviceKernelTest, FunctionsAreFoundByName) {
  EXPECT_EQ(kernel("store")->name(), "store");
  EXPECT_NE(kernel("store")->address(), kernel("copy")->address());
  EXPECT_EQ(&kernel("store")->module(), module_.get());
  const Status status = DeviceKernel::find(module_, "nothing").status();
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_THAT(status.message(), HasSubstr("'nothing'"));
  EXPECT_THAT(status.message(), HasSubstr(" store"));
}

TEST_F(DeviceKernelTest, AnyBytesAreSafeToLoad) {
  EXPECT_FALSE(DeviceKernel::load({}).ok());
  const std::vector<std::byte> noise(200, std::byte{0x7f});
  EXPECT_FALSE(DeviceKernel::load(noise).ok());
}

TEST_F(DeviceKernelTest, BlocksAreLimited) {
  EXPECT_TRUE(DeviceKernel::check_blocks(1).ok());
  EXPECT_TRUE(DeviceKernel::check_blocks(65535).ok());
  EXPECT_EQ(DeviceKernel::check_blocks(0).code(), Code::invalid_argument);
  EXPECT_EQ(DeviceKernel::check_blocks(65536).code(), Code::invalid_argument);
}

TEST_F(DeviceKernelTest, RegionsAreCopiedInAndComeBackAsTheySay) {
  for (const Back back : {Back::none, Back::all, Back::changed}) {
    uint32_t memory[2] = {1, 2};
    KernelLaunch launch;
    launch.regions = {region(memory, sizeof memory, back)};
    launch.arguments = {{Kind::region, 4, 0}, {Kind::word, 77, 0}};  // the second word of it
    ASSERT_TRUE(kernel("store")->run(launch).ok());
    EXPECT_EQ(memory[0], 1u);
    EXPECT_EQ(memory[1], back == Back::none ? 2u : 77u);
  }
}

TEST_F(DeviceKernelTest, ACopyIsReadAndNotBroughtBack) {
  uint32_t result = 0;
  KernelLaunch launch;
  launch.regions = {region(&result, sizeof result, Back::all)};
  launch.copies.emplace_back(8);
  const uint32_t words[] = {5, 6};
  std::memcpy(launch.copies[0].data(), words, sizeof words);
  launch.arguments = {{Kind::copy, 4, 0}, {Kind::region, 0, 0}};
  ASSERT_TRUE(kernel("copy")->run(launch).ok());
  EXPECT_EQ(result, 6u);
}

TEST_F(DeviceKernelTest, WhatTheKernelChangedIsToldInPieces) {
  std::vector<uint32_t> memory(1000, 3);
  std::vector<KernelPiece> pieces;
  KernelLaunch launch;
  launch.regions = {region(memory.data(), memory.size() * 4, Back::changed)};
  launch.arguments = {{Kind::region, 2000, 0}, {Kind::word, 0x01020304, 0}};
  launch.touched = [&](std::span<const KernelPiece> all) { pieces.assign(all.begin(), all.end()); };
  ASSERT_TRUE(kernel("store")->run(launch).ok());
  const auto* const base = reinterpret_cast<const std::byte*>(memory.data());
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].data, base);
  EXPECT_EQ(pieces[0].bytes, 4000u);
  EXPECT_FALSE(pieces[0].changed);
  EXPECT_EQ(pieces[1].data, base + 2000);
  EXPECT_EQ(pieces[1].bytes, 4u);
  EXPECT_TRUE(pieces[1].changed);
  EXPECT_EQ(memory[500], 0x01020304u);
}

TEST_F(DeviceKernelTest, MemoryThatTheHostCannotReadIsServedToo) {
  device::RemoteDevice device(0);
  void* const block = device::allocate_device(device, 8, {}).value();
  KernelLaunch launch;
  launch.regions = {region(block, 8, Back::all)};
  launch.arguments = {{Kind::region, 4, 0}, {Kind::word, 9, 0}};
  ASSERT_TRUE(kernel("store")->run(launch).ok());
  uint32_t seen = 0;
  ASSERT_TRUE(device::copy_bytes(&seen, static_cast<std::byte*>(block) + 4, 4).ok());
  EXPECT_EQ(seen, 9u);
  EXPECT_TRUE(device::free_device(block).ok());
}

TEST_F(DeviceKernelTest, ATrapIsAFailureOfTheKernel) {
  EXPECT_EQ(kernel("trap")->run({}).code(), Code::kernel_failed);
  KernelLaunch launch;
  launch.arguments = {{Kind::word, 4, 0}, {Kind::word, 1, 0}};  // no address of the cluster
  EXPECT_EQ(kernel("store")->run(launch).code(), Code::kernel_failed);
}

}  // namespace
}  // namespace anynpu::exec
