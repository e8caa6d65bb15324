// SPDX-License-Identifier: Apache-2.0
// Devices: NPC clusters as STC_SET_DEVICES numbers them.
#include "api/hpe/entry.h"
#include "npc/host/host.h"

using namespace anynpu;
using hpe::check_pointer;
using hpe::enter;

namespace {

// What the card would say, by stcDeviceAttr. Bus and versions are those of a published sample: no
// card is there.
constexpr int kAttributes[] = {
    538968322,                // chip version
    0,                        // board version
    npc::kClusters,           // clusters on the chip
    npc::kCores,              // NPCs in a cluster
    npc::kSharedBytes >> 10,  // KiB
    npc::kGlobalEnd >> 20,    // MiB
    1,                        // kernels at a time
    1,                        // PCI bus (simulated)
    256,                      // PCI device (simulated)
    0,                        // firmware
    17039360,                 // driver
};
static_assert(std::size(kAttributes) == stcDevAttrCount);

}  // namespace

stcError_t stcSetDevice(int device) {
  return enter(__func__, [&] { return npc::set_current_device(device); });
}

stcError_t stcGetDevice(int* device) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(device, "device"));
    ANYNPU_TRY(npc::check_device(npc::current_device_number()));
    *device = npc::current_device_number();
    return {};
  });
}

stcError_t stcGetDeviceCount(int* count) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(count, "count"));
    *count = npc::device_count();
    return {};
  });
}

stcError_t stcGetDeviceName(const char** name, int device) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(name, "name"));
    ANYNPU_TRY(npc::check_device(device));
    *name = "STCP920";
    return {};
  });
}

stcError_t stcGetDeviceAttribute(int* value, stcDeviceAttr attr, int device) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_TRY(npc::check_device(device));
    if (attr < 0 || attr >= stcDevAttrCount) {
      return fail(Code::invalid_argument, "attribute {} is unknown; expected 0 to {}",
                  static_cast<int>(attr), stcDevAttrCount - 1);
    }
    *value = kAttributes[attr];
    return {};
  });
}

stcError_t stcDeviceSynchronize(void) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    return device->synchronize(Deadline::never());
  });
}
