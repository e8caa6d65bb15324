// SPDX-License-Identifier: Apache-2.0
#include "exec/device_buffers.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/host_view.h"
#include "device/memory.h"
#include "device/remote_device_for_test.h"

namespace anynpu::exec {
namespace {

using device::Access;

class DeviceBuffersTest : public testing::Test {
 protected:
  static std::vector<TensorInfo> infos(std::vector<size_t> sizes) {
    std::vector<TensorInfo> list;
    for (size_t bytes : sizes) {
      list.emplace_back();
      list.back().bytes = bytes;
    }
    return list;
  }
  bool on_device(const void* address) {
    return (*device_.memory())->contains(reinterpret_cast<uintptr_t>(address));
  }
  static std::vector<float> read(const void* address, size_t count) {
    std::vector<float> seen(count);
    EXPECT_TRUE(device::copy_bytes(seen.data(), address, count * sizeof(float)).ok());
    return seen;
  }

  device::RemoteDevice device_{0};
};

TEST_F(DeviceBuffersTest, BuffersOfTheHostAreCopiedAndThoseOfTheDeviceStay) {
  std::vector<float> host = {1, 2, 3};
  void* const block = *device::allocate_device(device_, 12, {});
  void* addresses[] = {host.data(), block};
  DeviceBuffers buffers(device_);
  ASSERT_TRUE(buffers.bring(addresses, infos({12, 12}), Access::read).ok());
  EXPECT_TRUE(buffers.copied());
  EXPECT_TRUE(on_device(addresses[0]));
  EXPECT_EQ(read(addresses[0], 3), host);
  EXPECT_EQ(addresses[1], block);
  EXPECT_TRUE(device::free_device(block).ok());
}

TEST_F(DeviceBuffersTest, NothingIsCopiedWhereNothingHasBytes) {
  void* addresses[] = {nullptr};
  DeviceBuffers buffers(device_);
  ASSERT_TRUE(buffers.bring(addresses, infos({0}), Access::write).ok());
  EXPECT_FALSE(buffers.copied());
  EXPECT_EQ(addresses[0], nullptr);
}

TEST_F(DeviceBuffersTest, OnlyOutputsAreCopiedBackAndUnwrittenBytesKeepTheirValue) {
  std::vector<float> in = {1, 2}, out = {3, 4};
  void *inputs[] = {in.data()}, *outputs[] = {out.data()};
  DeviceBuffers buffers(device_);
  ASSERT_TRUE(buffers.bring(inputs, infos({8}), Access::read).ok());
  ASSERT_TRUE(buffers.bring(outputs, infos({8}), Access::write).ok());
  const float changed = 9;
  ASSERT_TRUE(device::copy_bytes(inputs[0], &changed, 4).ok());
  ASSERT_TRUE(device::copy_bytes(outputs[0], &changed, 4).ok());
  ASSERT_TRUE(buffers.copy_back().ok());
  EXPECT_EQ(in, (std::vector<float>{1, 2}));
  EXPECT_EQ(out, (std::vector<float>{9, 4}));
}

TEST_F(DeviceBuffersTest, AFullDeviceIsReported) {
  std::vector<std::byte> large(size_t{2} << 20);
  void* addresses[] = {large.data()};
  DeviceBuffers buffers(device_);
  EXPECT_EQ(buffers.bring(addresses, infos({large.size()}), Access::read).code(),
            Code::out_of_memory);
}

}  // namespace
}  // namespace anynpu::exec
