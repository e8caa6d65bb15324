// SPDX-License-Identifier: Apache-2.0
#include "device/ipc_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "device/cpu/cpu_device.h"
#include "device/memory.h"

namespace anynpu::device {
namespace {

CpuDevice& shared_device() {
  static CpuDevice cpu(0, 0, size_t{16} << 20);
  return cpu;
}
uint8_t* device_block(size_t bytes) {
  return static_cast<uint8_t*>(*allocate_device(shared_device(), bytes, {}));
}

TEST(IpcMemory, AnExportedAllocationKeepsItsAddressAndBytes) {
  uint8_t* before = device_block(100);
  uint8_t* block = device_block(10000);
  uint8_t* after = device_block(100);
  std::memset(before, 1, 100);
  std::memset(block, 2, 10000);
  std::memset(after, 3, 100);
  const auto key = export_memory(block, 10000, SharedFile::Admit::anyone);
  ASSERT_TRUE(key.ok()) << key.status().to_string();
  EXPECT_EQ(block[0], 2);
  EXPECT_EQ(block[9999], 2);
  EXPECT_EQ(*export_memory(block, 5000, SharedFile::Admit::listed), *key);
  auto* other = static_cast<uint8_t*>(*import_memory(*key, shared_device()));
  EXPECT_EQ(other[9999], 2);
  other[5000] = 77;
  EXPECT_EQ(block[5000], 77);
  EXPECT_EQ(before[99], 1);
  EXPECT_EQ(after[0], 3);
  EXPECT_TRUE(close_memory_key(*key).ok());  // the import
  EXPECT_TRUE(close_memory_key(*key).ok());  // the export
  EXPECT_EQ(close_memory_key(*key).code(), Code::not_found);
  EXPECT_EQ(import_memory(*key, shared_device()).status().code(), Code::not_found);
  for (uint8_t* each : {before, block, after}) EXPECT_TRUE(free_device(each).ok());
}

TEST(IpcMemory, FreedMemoryIsNotSharedWithWhoeverGetsTheBlockNext) {
  uint8_t* block = device_block(8192);
  const auto key = *export_memory(block, 8192, SharedFile::Admit::anyone);
  auto* other = static_cast<uint8_t*>(*import_memory(key, shared_device()));
  std::memset(block, 5, 8192);
  EXPECT_TRUE(free_device(block).ok());
  uint8_t* next = device_block(8192);
  std::memset(next, 6, 8192);
  EXPECT_EQ(other[0], 5);
  EXPECT_TRUE(close_memory_key(key).ok());
  EXPECT_EQ(let_in_by_key(key, std::array<int32_t, 1>{1}).code(), Code::not_found);
  EXPECT_TRUE(free_device(next).ok());
}

TEST(IpcMemory, ImportedMemoryIsDeviceMemoryOfItsSize) {
  uint8_t* block = device_block(1000);
  const auto key = *export_memory(block, 1000, SharedFile::Admit::listed);
  EXPECT_EQ(import_memory(key, shared_device()).status().code(), Code::permission_denied);
  ASSERT_TRUE(let_in_by_key(key, std::array<int32_t, 1>{getpid()}).ok());
  void* other = *import_memory(key, shared_device());
  EXPECT_TRUE(check_range(other, 1024 + 32, Access::write, "dst")->on_device());
  EXPECT_FALSE(check_range(other, 4096, Access::write, "dst").ok());
  EXPECT_EQ(import_memory(key, shared_device()).status().code(), Code::already_exists);
  EXPECT_EQ(free_device(other).code(), Code::invalid_address);
  EXPECT_TRUE(close_memory_key(key).ok());
  EXPECT_TRUE(free_device(block).ok());
}

TEST(IpcMemory, OnlyTheStartOfDeviceMemoryIsExported) {
  uint8_t* block = device_block(1000);
  int local = 0;
  EXPECT_EQ(export_memory(block + 64, 10, SharedFile::Admit::anyone).status().code(),
            Code::invalid_address);
  EXPECT_EQ(export_memory(&local, 4, SharedFile::Admit::anyone).status().code(),
            Code::invalid_address);
  EXPECT_EQ(export_memory(nullptr, 4, SharedFile::Admit::anyone).status().code(),
            Code::invalid_address);
  EXPECT_EQ(export_memory(block, 5000, SharedFile::Admit::anyone).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(export_memory(block, 0, SharedFile::Admit::anyone).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(import_memory("nonsense", shared_device()).status().code(), Code::invalid_argument);
  EXPECT_EQ(close_memory_key("nonsense").code(), Code::invalid_argument);
  EXPECT_TRUE(free_device(block).ok());
}

}  // namespace
}  // namespace anynpu::device
