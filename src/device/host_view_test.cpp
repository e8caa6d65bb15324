// SPDX-License-Identifier: Apache-2.0
#include "device/host_view.h"

#include <gtest/gtest.h>

#include <numeric>

#include "device/memory.h"
#include "device/remote_device_for_test.h"

namespace anynpu::device {
namespace {

class HostView : public testing::Test {
 protected:
  int* allocate(RemoteDevice& device) {
    auto* const address = static_cast<int*>(*allocate_device(device, 4 * sizeof(int), {}));
    EXPECT_TRUE(copy_bytes(address, std::vector<int>{1, 2, 3, 4}.data(), 16).ok());
    return address;
  }
  static std::vector<int> read(const int* address) {
    std::vector<int> got(4);
    EXPECT_TRUE(copy_bytes(got.data(), address, 16).ok());
    return got;
  }

  RemoteDevice here_{0}, there_{1};
};

TEST_F(HostView, NoBytesNeedNoAddress) {
  EXPECT_TRUE(copy_bytes(nullptr, nullptr, 0).ok());
  EXPECT_TRUE(copy_rows({nullptr, nullptr, 0, 3, 8, 8}).ok());
  EXPECT_TRUE(fill_bytes(nullptr, 0, 0).ok());
}

TEST_F(HostView, WorkSeesTheBytesAndWhatItWritesComesBack) {
  int* const from = allocate(here_);
  int* const to = allocate(there_);
  int sum = 10;
  HostRange views[] = {{from, 16, Access::read}, {to + 1, 4, Access::write}, {&sum, 4}};
  const Status status = with_host_view(views, [&] {
    EXPECT_EQ(views[2].address, &sum) << "memory of the host stays where it is";
    const auto* const values = static_cast<const int*>(views[0].address);
    *static_cast<int*>(views[1].address) = std::accumulate(values, values + 4, sum);
    return Status();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(views[0].address, from);
  EXPECT_EQ(read(to), (std::vector<int>{1, 20, 3, 4}));
  EXPECT_TRUE(free_device(from).ok());
  EXPECT_TRUE(free_device(to).ok());
}

TEST_F(HostView, AFailureOfTheWorkIsReturned) {
  int* const address = allocate(here_);
  const Status status =
      with_host_view({address, 16, Access::read}, [](void*) { return fail(Code::internal, "no"); });
  EXPECT_EQ(status.code(), Code::internal);
  EXPECT_TRUE(free_device(address).ok());
}

TEST_F(HostView, BytesAreCopiedBetweenTwoMemoriesThatTheHostCannotRead) {
  int* const from = allocate(here_);
  int* const to = allocate(there_);
  EXPECT_TRUE(fill_bytes(from, 0, 8).ok());
  EXPECT_TRUE(copy_rows({to, from, 4, 2, 8, 8}).ok());
  EXPECT_EQ(read(to), (std::vector<int>{0, 2, 3, 4}));
  EXPECT_TRUE(free_device(from).ok());
  EXPECT_TRUE(free_device(to).ok());
}

TEST_F(HostView, ArgumentsForTheHostMustBeReadable) {
  int* const address = allocate(here_);
  EXPECT_EQ(check_host_range(address, 16, Access::read, "args").status().code(),
            Code::unsupported_feature);
  auto range = check_range(address, 16, Access::read, "model");
  ASSERT_TRUE(range.ok());
  const auto copy = readable_range(*range);
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(reinterpret_cast<const int*>(copy->address)[3], 4);
  EXPECT_TRUE(free_device(address).ok());
}

}  // namespace
}  // namespace anynpu::device
