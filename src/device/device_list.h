// SPDX-License-Identifier: Apache-2.0
// Which devices a process sees: ANYNPU_DEVICES names them by back end (backend.h),
// ASCEND_RT_VISIBLE_DEVICES selects and orders them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"

namespace anynpu::device {

struct DeviceList {
  std::vector<std::shared_ptr<Device>> devices;
  std::string problem;  // what was ignored and why; empty if nothing
};

// `wanted`: "cpu:8" (eight CPU devices), "cpu:2,cuda:0" (two, then the GPU 0). `visible`: "4,3,2":
// logical device 0 is physical 4, and so on; cut at the first entry that is not a device.
DeviceList list_devices(std::string_view wanted, const std::optional<std::string>& visible);

// The physical ids `visible` selects out of 0 .. count-1.
std::vector<int32_t> visible_ids(std::string_view visible, int32_t count);

}  // namespace anynpu::device
