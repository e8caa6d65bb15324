// SPDX-License-Identifier: Apache-2.0
// Two ranks in one process, on devices 0 and 1, each with a stream and a block of memory.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "device/memory.h"
#include "device/runtime.h"
#include "service/collective/communicators.h"

namespace anynpu::service {

class TwoRanks : public ::testing::Test {
 protected:
  static constexpr size_t kBytes = 1 << 20;

  void SetUp() override {
    const int32_t devices[] = {0, 1};
    for (const int32_t device : devices) {
      ASSERT_TRUE(runtime().set_device(device).ok());
      auto context = *runtime().current();
      streams.push_back(*context->create_stream({}));
      memory.push_back(*device::allocate_device(*context->device(), kBytes, {}));
    }
    const Status made = init_all(devices, groups);
    ASSERT_TRUE(made.ok()) << made.to_string();
  }
  void TearDown() override {
    for (int rank = 0; rank < 2; ++rank) {
      (void)destroy_communicator(groups[rank]);
      EXPECT_TRUE(device::free_device(memory[static_cast<size_t>(rank)]).ok());
    }
    runtime().reset_all();
  }
  static device::Runtime& runtime() { return device::Runtime::instance(); }
  Status wait(int rank) {
    ANYNPU_ASSIGN(auto stream, runtime().stream(streams[static_cast<size_t>(rank)]));
    return stream->synchronize();
  }
  float* floats(int rank) { return static_cast<float*>(memory[static_cast<size_t>(rank)]); }

  Handle groups[2] = {};
  std::vector<Handle> streams;
  std::vector<void*> memory;
};

}  // namespace anynpu::service
