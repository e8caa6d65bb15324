// SPDX-License-Identifier: Apache-2.0
#include "service/snapshot/snapshot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "device/memory.h"
#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::Runtime;

struct Snapshots : testing::Test {
  void SetUp() override { ASSERT_TRUE(Runtime::instance().set_device(0).ok()); }
  void TearDown() override {
    (void)unlock_process(getpid());
    EXPECT_TRUE(Runtime::instance().reset_device(0, Runtime::Reset::count_down).ok());
  }
};

TEST_F(Snapshots, EachStateHasItsCallsAndItsFailure) {
  const int own = getpid();
  EXPECT_EQ(lock_process(own + 1).code(), Code::invalid_argument);
  EXPECT_EQ(unlock_process(own).code(), Code::snapshot_unlock_failed);
  EXPECT_EQ(back_up_process(own).code(), Code::snapshot_backup_failed);
  EXPECT_EQ(restore_process(own).code(), Code::snapshot_restore_failed);
  EXPECT_TRUE(lock_process(own).ok());
  EXPECT_EQ(lock_process(own).code(), Code::snapshot_lock_failed);
  EXPECT_EQ(restore_process(own).code(), Code::snapshot_restore_failed);
  EXPECT_TRUE(back_up_process(own).ok());
  EXPECT_TRUE(back_up_process(own).ok()) << "the last one counts";
  EXPECT_TRUE(restore_process(own).ok());
  EXPECT_EQ(restore_process(own).code(), Code::snapshot_restore_failed) << "locked again";
  EXPECT_TRUE(unlock_process(own).ok());
}

TEST_F(Snapshots, DeviceMemoryComesBackAsItWas) {
  const auto owner = Runtime::instance().device(0).value();
  auto* block = static_cast<uint8_t*>(device::allocate_device(*owner, size_t{3} << 20, {}).value());
  block[5] = 7;
  EXPECT_TRUE(lock_process(getpid()).ok());
  EXPECT_TRUE(back_up_process(getpid()).ok());
  block[5] = 1;
  block[2 << 20] = 9;
  EXPECT_TRUE(restore_process(getpid()).ok());
  EXPECT_EQ(block[5], 7);
  EXPECT_EQ(block[2 << 20], 0);
  EXPECT_TRUE(unlock_process(getpid()).ok());
  EXPECT_TRUE(device::free_device(block).ok());
}

TEST_F(Snapshots, CallsThatChangeDevicesWaitForTheUnlock) {
  EXPECT_TRUE(lock_process(getpid()).ok());
  EXPECT_TRUE(wait_while_locked("aclrtSynchronizeStream").ok());
  EXPECT_TRUE(wait_while_locked("aclrtGetDeviceCount").ok());
  std::atomic<bool> passed{false};
  std::thread caller([&] {
    EXPECT_TRUE(wait_while_locked("aclrtMalloc").ok());
    passed = true;
  });
  usleep(20'000);
  EXPECT_FALSE(passed);
  EXPECT_TRUE(unlock_process(getpid()).ok());
  caller.join();
  EXPECT_TRUE(passed);
}

TEST_F(Snapshots, CallbacksComeInTheirStagesAndMayFail) {
  std::vector<int> seen;
  int key = 0;
  for (int stage = 0; stage <= 5; ++stage) {
    ASSERT_TRUE(add_snapshot_callback(stage, &key, [&, stage](int32_t device) {
                  EXPECT_EQ(device, 0);
                  seen.push_back(stage);
                  return 0u;
                }).ok());
  }
  EXPECT_EQ(add_snapshot_callback(0, &key, {}).code(), Code::snapshot_register_failed);
  EXPECT_EQ(add_snapshot_callback(6, &key, {}).code(), Code::invalid_argument);
  EXPECT_TRUE(lock_process(getpid()).ok());
  EXPECT_TRUE(back_up_process(getpid()).ok());
  EXPECT_TRUE(restore_process(getpid()).ok());
  EXPECT_TRUE(unlock_process(getpid()).ok());
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  for (int stage = 0; stage <= 5; ++stage) EXPECT_TRUE(remove_snapshot_callback(stage, &key).ok());
  EXPECT_EQ(remove_snapshot_callback(0, &key).code(), Code::snapshot_register_failed);
  ASSERT_TRUE(add_snapshot_callback(0, &key, [](int32_t) { return 3u; }).ok());
  EXPECT_EQ(lock_process(getpid()).code(), Code::snapshot_callback_failed);
  EXPECT_EQ(unlock_process(getpid()).code(), Code::snapshot_unlock_failed) << "still running";
  EXPECT_TRUE(remove_snapshot_callback(0, &key).ok());
}

}  // namespace
}  // namespace anynpu::service
