// SPDX-License-Identifier: Apache-2.0
#include "device/copy_batch.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/cpu/cpu_device.h"

namespace anynpu::device {
namespace {

CpuDevice& batch_device() {
  static CpuDevice cpu(0, 0, size_t{16} << 20);
  return cpu;
}
std::shared_ptr<Stream> batch_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}
constexpr BatchPlace kOnHost{false, 0};
constexpr BatchPlace kOnDevice{true, 0};

struct CopyBatch : ::testing::Test {
  uint8_t* block = static_cast<uint8_t*>(*allocate_device(batch_device(), 4096, {}));
  std::vector<uint8_t> host = std::vector<uint8_t>(4096, 8);
  ~CopyBatch() override { EXPECT_TRUE(free_device(block).ok()); }
};

TEST_F(CopyBatch, CopiesAllPieces) {
  const std::vector<BatchCopy> copies = {{block, 100, host.data(), 100, kOnDevice, kOnHost},
                                         {block + 200, 50, host.data(), 50, kOnDevice, kOnHost}};
  block[100] = 0;
  size_t failed = SIZE_MAX;
  ASSERT_TRUE(copy_batch(copies, &failed).ok());
  EXPECT_EQ(block[99], 8);
  EXPECT_EQ(block[100], 0);
  EXPECT_EQ(block[249], 8);
  EXPECT_EQ(failed, SIZE_MAX);
}

TEST_F(CopyBatch, NothingMovesWhenOneCopyIsWrong) {
  block[0] = 1;
  const std::vector<BatchCopy> copies = {{block, 100, host.data(), 100, kOnDevice, kOnHost},
                                         {block, 10, host.data(), 100, kOnDevice, kOnHost}};
  size_t failed = SIZE_MAX;
  EXPECT_EQ(copy_batch(copies, &failed).code(), Code::invalid_argument);
  EXPECT_EQ(failed, SIZE_MAX) << "told for places and directions alone";
  EXPECT_EQ(block[0], 1);
}

TEST_F(CopyBatch, AllCopiesGoOneWay) {
  const std::vector<BatchCopy> copies = {{block, 100, host.data(), 100, kOnDevice, kOnHost},
                                         {host.data(), 100, block, 100, kOnHost, kOnDevice}};
  size_t failed = SIZE_MAX;
  EXPECT_EQ(copy_batch(copies, &failed).code(), Code::invalid_argument);
  EXPECT_EQ(failed, 1u);
}

TEST_F(CopyBatch, PointersInDeviceMemoryAreFollowedWhenTheCopyRuns) {
  auto stream = batch_stream();
  auto** pointers = reinterpret_cast<uint8_t**>(block);
  pointers[0] = block + 1024;
  pointers[1] = block + 2048;
  block[2048 + 5] = 77;
  IndirectCopy request{pointers, 16, 3, pointers + 1, 4, 5};
  ASSERT_TRUE(copy_indirect_async(request, *stream).ok());
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(block[1024 + 3], 77);
  pointers[0] = nullptr;
  ASSERT_TRUE(copy_indirect_async(request, *stream).ok());
  EXPECT_FALSE(stream->synchronize().ok());
  request.bytes = 17;
  EXPECT_EQ(copy_indirect_async(request, *stream).code(), Code::invalid_argument);
  void* own[2] = {block, block};
  EXPECT_EQ(copy_indirect_async({own, 8, 0, own + 1, 8, 0}, *stream).code(), Code::invalid_address);
}

TEST_F(CopyBatch, CacheWorkIsDescribedInDeviceMemory) {
  auto stream = batch_stream();
  ASSERT_TRUE(write_cache_desc(block, block + 1024, 100).ok());
  ASSERT_TRUE(cache_described_async(block, CacheOperation::prefetch, *stream).ok());
  EXPECT_TRUE(stream->synchronize().ok());
  block[8] ^= 1;
  ASSERT_TRUE(cache_described_async(block, CacheOperation::prefetch, *stream).ok());
  EXPECT_EQ(stream->synchronize().code(), Code::invalid_argument);
  EXPECT_EQ(write_cache_desc(block, block + 1024, 0).code(), Code::invalid_argument);
}

TEST_F(CopyBatch, LocationsMustBeTrue) {
  size_t failed = SIZE_MAX;
  const std::vector<BatchCopy> lies = {{block, 100, host.data(), 100, kOnHost, kOnHost}};
  EXPECT_EQ(copy_batch(lies, &failed).code(), Code::invalid_argument);
  EXPECT_EQ(failed, 0u);
  const std::vector<BatchCopy> other = {{block, 100, host.data(), 100, {true, 3}, kOnHost}};
  EXPECT_EQ(copy_batch(other, &failed).code(), Code::invalid_argument);
  const std::vector<BatchCopy> same = {{block, 100, block + 200, 100, kOnDevice, kOnDevice}};
  EXPECT_EQ(copy_batch(same, &failed).code(), Code::invalid_argument);
}

TEST_F(CopyBatch, RunsInStreamOrder) {
  auto stream = batch_stream();
  size_t failed = SIZE_MAX;
  ASSERT_TRUE(fill_async(block, 4096, 3, 4096, *stream).ok());
  const std::vector<BatchCopy> copies = {{host.data(), 100, block, 100, kOnHost, kOnDevice}};
  ASSERT_TRUE(copy_batch_async(copies, &failed, *stream).ok());
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(host[99], 3);
}

TEST_F(CopyBatch, ADescribedCopyIsReadWhenItRuns) {
  auto stream = batch_stream();
  ASSERT_TRUE(write_copy_desc(block, block + 1024, host.data(), 100).ok());
  ASSERT_TRUE(copy_described_async(block, *stream).ok());
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(block[1123], 8);
  block[8] ^= 1;
  ASSERT_TRUE(copy_described_async(block, *stream).ok());
  EXPECT_EQ(stream->synchronize().code(), Code::invalid_argument);
  EXPECT_EQ(write_copy_desc(block, block + 1024, host.data(), 0).code(), Code::invalid_argument);
  EXPECT_EQ(write_copy_desc(nullptr, block, host.data(), 8).code(), Code::invalid_address);
  EXPECT_EQ(copy_described_async(nullptr, *stream).code(), Code::invalid_address);
}

TEST_F(CopyBatch, CacheOperationsCheckTheirRange) {
  auto stream = batch_stream();
  for (auto operation : {CacheOperation::prefetch, CacheOperation::flush}) {
    EXPECT_TRUE(cache_async(block, 4096, operation, *stream).ok());
  }
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(cache_async(block, 0, CacheOperation::prefetch, *stream).code(),
            Code::invalid_argument);
  EXPECT_EQ(cache_async(block, 1 << 20, CacheOperation::prefetch, *stream).code(),
            Code::invalid_address);
}

}  // namespace
}  // namespace anynpu::device
