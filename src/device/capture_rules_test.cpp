// SPDX-License-Identifier: Apache-2.0
#include "device/capture_rules.h"

#include <gtest/gtest.h>

#include <thread>

namespace anynpu::device {
namespace {

class CaptureForTest final : public OpenCapture {
 public:
  explicit CaptureForTest(CaptureMode mode) : OpenCapture(mode) { open_now(); }
  ~CaptureForTest() override { close(); }
  int broken = 0;

 private:
  void invalidate(const Status&) override { ++broken; }
};

Status elsewhere(CaptureMode mode) {
  Status status;
  std::thread([&] {
    exchange_thread_mode(mode);
    status = check_unsafe_call("a call");
  }).join();
  return status;
}

TEST(CaptureRules, WithoutACaptureEverythingIsAllowed) {
  EXPECT_TRUE(check_unsafe_call("a call").ok());
  EXPECT_TRUE(check_blocking_call("a call").ok());
}

TEST(CaptureRules, AGlobalCaptureBindsAllThreadsThatDoNotSayOtherwise) {
  CaptureForTest capture(CaptureMode::global);
  EXPECT_EQ(check_unsafe_call("a call").code(), Code::capture_mode_forbids);
  EXPECT_EQ(check_blocking_call("a call").code(), Code::capture_forbids_waiting);
  EXPECT_EQ(elsewhere(CaptureMode::global).code(), Code::capture_mode_forbids);
  EXPECT_TRUE(elsewhere(CaptureMode::in_thread).ok());
  EXPECT_EQ(capture.broken, 3);
}

TEST(CaptureRules, ACaptureOfAThreadBindsThatThread) {
  CaptureForTest capture(CaptureMode::in_thread);
  EXPECT_FALSE(check_unsafe_call("a call").ok());
  EXPECT_TRUE(elsewhere(CaptureMode::global).ok());
  EXPECT_EQ(exchange_thread_mode(CaptureMode::relaxed), CaptureMode::global);
  EXPECT_TRUE(check_unsafe_call("a call").ok());
  EXPECT_EQ(exchange_thread_mode(CaptureMode::global), CaptureMode::relaxed);
}

TEST(CaptureRules, ARelaxedCaptureBindsNobody) {
  CaptureForTest capture(CaptureMode::relaxed);
  EXPECT_TRUE(check_unsafe_call("a call").ok());
  EXPECT_EQ(capture.broken, 0);
}

}  // namespace
}  // namespace anynpu::device
