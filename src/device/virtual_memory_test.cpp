// SPDX-License-Identifier: Apache-2.0
#include "device/virtual_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <future>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "device/memory.h"

namespace anynpu::device {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

CpuDevice& small_device() {
  static CpuDevice cpu(0, 0, 16 * kMiB);
  return cpu;
}
std::shared_ptr<PhysicalMemory> physical(size_t bytes) {
  return *PhysicalMemory::create(&small_device(), bytes);
}
Status copy_to(void* address, size_t bytes) {
  std::vector<uint8_t> host(bytes, 9);
  return copy({address, bytes, host.data(), bytes, CopyKind::host_to_device});
}

TEST(VirtualMemory, ReservedAddressesRefuseCopiesUntilMemoryIsMapped) {
  auto* base = static_cast<uint8_t*>(*reserve_addresses(4 * kMiB, 0, nullptr));
  const Status before = copy_to(base, 100);
  EXPECT_EQ(before.code(), Code::invalid_address);
  EXPECT_NE(before.message().find("reserved"), std::string::npos);
  ASSERT_TRUE(map_memory(base + kMiB, kMiB, 0, physical(kMiB)).ok());
  EXPECT_TRUE(copy_to(base + kMiB + 10, 100).ok());
  EXPECT_EQ(base[kMiB + 10], 9);
  EXPECT_EQ(copy_to(base, 100).code(), Code::invalid_address);
  EXPECT_EQ(copy_to(base + 2 * kMiB, 100).code(), Code::invalid_address);
  EXPECT_EQ(release_addresses(base).code(), Code::invalid_argument);
  EXPECT_TRUE(unmap_memory(base + kMiB).ok());
  EXPECT_EQ(copy_to(base + kMiB, 100).code(), Code::invalid_address);
  EXPECT_TRUE(release_addresses(base).ok());
  EXPECT_EQ(release_addresses(base).code(), Code::invalid_address);
}

TEST(VirtualMemory, OnePieceOfMemoryMappedTwiceIsTheSameMemory) {
  auto memory = physical(2 * 4096);
  auto* base = static_cast<uint8_t*>(*reserve_addresses(8 * 4096, 0, nullptr));
  ASSERT_TRUE(map_memory(base, 2 * 4096, 0, memory).ok());
  ASSERT_TRUE(map_memory(base + 4 * 4096, 4096, 4096, memory).ok());
  base[4096] = 42;
  EXPECT_EQ(base[4 * 4096], 42);
  EXPECT_EQ(map_memory(base + 4096, 4096, 0, memory).code(), Code::already_exists);
  EXPECT_TRUE(unmap_memory(base).ok());
  EXPECT_TRUE(unmap_memory(base + 4 * 4096).ok());
  EXPECT_TRUE(release_addresses(base).ok());
}

TEST(VirtualMemory, PhysicalMemoryCountsAgainstItsDeviceUntilTheLastMappingIsGone) {
  const size_t before = small_device().memory_used();
  auto memory = physical(kMiB);
  EXPECT_EQ(small_device().memory_used(), before + kMiB);
  auto* base = static_cast<uint8_t*>(*reserve_addresses(kMiB, 0, nullptr));
  ASSERT_TRUE(map_memory(base, kMiB, 0, memory).ok());
  memory = nullptr;
  EXPECT_EQ(small_device().memory_used(), before + kMiB);
  EXPECT_TRUE(unmap_memory(base).ok());
  EXPECT_EQ(small_device().memory_used(), before);
  EXPECT_TRUE(release_addresses(base).ok());
  EXPECT_EQ(PhysicalMemory::create(&small_device(), 17 * kMiB).status().code(),
            Code::out_of_memory);
  EXPECT_EQ(PhysicalMemory::create(&small_device(), 0).status().code(), Code::invalid_argument);
}

TEST(VirtualMemory, QueuedWorkKeepsAMappingAlive) {
  auto* base = static_cast<uint8_t*>(*reserve_addresses(4096, 0, nullptr));
  ASSERT_TRUE(map_memory(base, 4096, 0, physical(4096)).ok());
  auto stream = std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
  static constinit TaskKind kHold{"hold", Engine::control};
  std::promise<Completion> started;
  ASSERT_TRUE(stream
                  ->submit(kHold,
                           [&](TaskRun& run) {
                             started.set_value(run.defer());
                             return Outcome::pending;
                           })
                  .ok());
  ASSERT_TRUE(fill_async(base, 4096, 5, 4096, *stream).ok());
  Completion gate = started.get_future().get();
  ASSERT_TRUE(unmap_memory(base).ok());
  EXPECT_EQ(map_memory(base, 4096, 0, physical(4096)).code(), Code::already_exists);
  EXPECT_EQ(release_addresses(base).code(), Code::invalid_argument);
  gate.finish({});
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_TRUE(release_addresses(base).ok());
}

TEST(VirtualMemory, WrongArgumentsAreRefused) {
  EXPECT_EQ(reserve_addresses(0, 0, nullptr).status().code(), Code::invalid_argument);
  EXPECT_EQ(reserve_addresses(4096, 3, nullptr).status().code(), Code::invalid_argument);
  EXPECT_FALSE(reserve_addresses(SIZE_MAX, 0, nullptr).ok());
  EXPECT_EQ(release_addresses(nullptr).code(), Code::invalid_address);
  EXPECT_EQ(unmap_memory(nullptr).code(), Code::invalid_address);
  auto* base = static_cast<uint8_t*>(*reserve_addresses(2 * 4096, kMiB, nullptr));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(base) % kMiB, 0u);
  auto memory = physical(2 * 4096);
  EXPECT_EQ(map_memory(base + 1, 4096, 0, memory).code(), Code::unaligned_address);
  EXPECT_EQ(map_memory(base, 4096, 1, memory).code(), Code::unaligned_address);
  EXPECT_EQ(map_memory(base, 3 * 4096, 0, memory).code(), Code::invalid_argument);
  EXPECT_EQ(map_memory(base, 0, 0, memory).code(), Code::invalid_argument);
  EXPECT_EQ(map_memory(base + 4096, 2 * 4096, 0, memory).code(), Code::invalid_address);
  EXPECT_EQ(map_memory(nullptr, 4096, 0, memory).code(), Code::invalid_address);
  EXPECT_TRUE(release_addresses(base).ok());
}

TEST(VirtualMemory, WithoutAccessCopiesAreRefusedUntilItIsGiven) {
  auto* base = static_cast<uint8_t*>(*reserve_addresses(2 * kMiB, 0, nullptr));
  ASSERT_TRUE(map_memory(base, kMiB, 0, physical(kMiB), MapAccess::none).ok());
  const AccessPlace host{}, own{true, 0}, other{true, 1};
  EXPECT_FALSE(*has_access(base, own));
  EXPECT_EQ(copy_to(base, 8).code(), Code::invalid_address);
  EXPECT_EQ(give_access(base, 4096, std::array{own}).code(), Code::invalid_address);
  EXPECT_EQ(give_access(base + 4096, kMiB, std::array{own}).code(), Code::invalid_address);
  ASSERT_TRUE(give_access(base, kMiB, std::array{own, host}).ok());
  EXPECT_TRUE(copy_to(base, 8).ok());
  EXPECT_TRUE(*has_access(base + 5, host));
  EXPECT_FALSE(*has_access(base, other));
  EXPECT_EQ(has_access(base + kMiB, own).status().code(), Code::invalid_address);
  EXPECT_TRUE(unmap_memory(base).ok());
  ASSERT_TRUE(map_memory(base, kMiB, 0, physical(kMiB), MapAccess::none).ok());
  EXPECT_TRUE(unmap_memory(base).ok());
  EXPECT_EQ(unmap_memory(base).code(), Code::invalid_address);
  EXPECT_TRUE(release_addresses(base).ok());
}

TEST(VirtualMemory, OneMappingBehindAnother) {
  auto* first = static_cast<uint8_t*>(*reserve_addresses(2 * kMiB, 0, nullptr));
  auto* second = static_cast<uint8_t*>(*reserve_addresses(2 * kMiB, 0, nullptr));
  EXPECT_EQ(map_again(second, 2 * kMiB, first).code(), Code::invalid_address);
  ASSERT_TRUE(map_memory(first, kMiB, 0, physical(kMiB)).ok());
  ASSERT_TRUE(map_memory(first + kMiB, kMiB, 0, physical(kMiB)).ok());
  EXPECT_EQ(map_again(second, kMiB, first).code(), Code::invalid_argument);
  ASSERT_TRUE(map_again(second, 2 * kMiB, first).ok());
  ASSERT_TRUE(copy_to(first + kMiB + 3, 1).ok());
  EXPECT_EQ(second[kMiB + 3], 9);
  for (uint8_t* base : {first, second}) {
    EXPECT_TRUE(unmap_memory(base).ok());
    EXPECT_TRUE(unmap_memory(base + kMiB).ok());
    EXPECT_TRUE(release_addresses(base).ok());
  }
}

TEST(VirtualMemory, OneReservationTakesMemoryOfOneDevice) {
  static CpuDevice second(1, 1, 16 * kMiB);
  auto* base = static_cast<uint8_t*>(*reserve_addresses(2 * kMiB, 0, nullptr));
  ASSERT_TRUE(map_memory(base, kMiB, 0, physical(kMiB)).ok());
  auto other = *PhysicalMemory::create(&second, kMiB);
  EXPECT_EQ(map_memory(base + kMiB, kMiB, 0, other).code(), Code::invalid_argument);
  EXPECT_TRUE(unmap_memory(base).ok());
  EXPECT_TRUE(map_memory(base + kMiB, kMiB, 0, other).ok());
  EXPECT_TRUE(unmap_memory(base + kMiB).ok());
  EXPECT_TRUE(release_addresses(base).ok());
}

TEST(VirtualMemory, APlaceThatIsTakenIsRefused) {
  void* base = *reserve_addresses(kMiB, 0, nullptr);
  EXPECT_EQ(reserve_addresses(kMiB, 0, base, Wanted::place).status().code(), Code::already_exists);
  EXPECT_TRUE(release_addresses(base).ok());
  EXPECT_EQ(*reserve_addresses(kMiB, 0, base, Wanted::place), base);
  EXPECT_TRUE(release_addresses(base).ok());
}

TEST(PhysicalMemory, AHandleIsFreedAsOftenAsItWasGiven) {
  auto* base = static_cast<uint8_t*>(*reserve_addresses(kMiB, 0, nullptr));
  auto memory = physical(kMiB);
  const Handle handle = *memory->retain();
  ASSERT_TRUE(map_memory(base, kMiB, 0, memory).ok());
  EXPECT_EQ(*(*memory_mapped_at(base))->retain(), handle);
  EXPECT_EQ(memory_mapped_at(base + 4096).status().code(), Code::invalid_address);
  EXPECT_TRUE(memory->release(handle).ok());
  EXPECT_TRUE(resolve<PhysicalMemory>(handle).ok());
  EXPECT_TRUE(memory->release(handle).ok());
  EXPECT_FALSE(resolve<PhysicalMemory>(handle).ok());
  const Handle again = *(*memory_mapped_at(base))->retain();
  EXPECT_TRUE(memory->release(again).ok());
  EXPECT_TRUE(unmap_memory(base).ok());
  EXPECT_TRUE(release_addresses(base).ok());
}

TEST(PhysicalMemory, ExportedNumbersImportOnlyWhereLetIn) {
  auto memory = physical(4096);
  const uint64_t number = *memory->export_number(SharedFile::Admit::listed);
  EXPECT_EQ(PhysicalMemory::import(number, small_device()).status().code(),
            Code::permission_denied);
  ASSERT_TRUE(let_in(number, std::array<int32_t, 1>{getpid()}).ok());
  auto imported = PhysicalMemory::import(number, small_device());
  ASSERT_TRUE(imported.ok()) << imported.status().to_string();
  EXPECT_EQ((*imported)->bytes(), 4096u);
  EXPECT_EQ((*imported)->export_number(SharedFile::Admit::anyone).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(memory->export_number(SharedFile::Admit::listed).status().code(), Code::already_exists);
  EXPECT_EQ(check_importer(number).code(), Code::invalid_argument);
  EXPECT_EQ(let_in(number + 1, std::array<int32_t, 1>{1}).code(), Code::not_found);
  EXPECT_EQ(PhysicalMemory::import(number ^ 1, small_device()).status().code(), Code::not_found);
  EXPECT_EQ(PhysicalMemory::import(0, small_device()).status().code(), Code::not_found);
}

}  // namespace
}  // namespace anynpu::device
