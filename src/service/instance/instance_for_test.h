// SPDX-License-Identifier: Apache-2.0
// For tests of instances: a device, two streams, and tasks that leave letters.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "device/runtime.h"
#include "service/finalize.h"
#include "service/instance/build.h"
#include "service/instance/capture.h"
#include "service/instance/replay.h"

namespace anynpu::service {

inline constinit device::TaskKind letter_task{"letter", device::Engine::control};

class InstanceTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(device::Runtime::instance().set_device(0).ok());
    s_ = make_stream(0);
    t_ = make_stream(0);
  }
  void TearDown() override {
    run_finalizers();
    device::Runtime::instance().reset_all();
  }
  Handle make_stream(uint32_t flags) {
    return *(*device::Runtime::instance().current())->create_stream({0, flags});
  }
  std::shared_ptr<device::Stream> stream(Handle handle) {
    return *device::Runtime::instance().stream(handle);
  }
  Status leave(char letter, Handle on) {
    return stream(on)->submit(letter_task, [this, letter] {
      text_ += letter;
      return Status();
    });
  }
  std::string take() { return std::exchange(text_, {}); }
  // An instance captured from s_ that leaves letters.
  Handle captured(std::string_view letters) {
    EXPECT_TRUE(begin_capture(s_, 0).ok());
    for (const char letter : letters) EXPECT_TRUE(leave(letter, s_).ok());
    return *end_capture(s_);
  }
  Status run(Handle instance) {
    ANYNPU_TRY(execute_instance_async(instance, s_));
    return stream(s_)->synchronize();
  }

  Handle s_ = 0, t_ = 0;

 private:
  std::string text_;
};

}  // namespace anynpu::service
