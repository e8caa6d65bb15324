// SPDX-License-Identifier: Apache-2.0
#include "service/failure/device_faults.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

TEST(DeviceFaults, AFaultStaysWithItsDeviceUntilItIsForgotten) {
  note_fault(3, DeviceFault::core);
  EXPECT_EQ(fault_of(3), DeviceFault::core);
  EXPECT_EQ(fault_of(4), DeviceFault::none);
  forget_fault(3);
  EXPECT_EQ(fault_of(3), DeviceFault::none);
}

}  // namespace
}  // namespace anynpu::service
