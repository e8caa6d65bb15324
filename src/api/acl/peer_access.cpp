// SPDX-License-Identifier: Apache-2.0
// Peer access between devices (acl.rt.device_can_access_peer and similar).
#include "acl/rt/device.h"
#include "api/acl/entry.h"
#include "device/runtime.h"
#include "service/device/device_settings.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using device::Runtime;

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(canAccessPeer, "canAccessPeer"));
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    ANYNPU_TRY(Runtime::instance().device(peerDeviceId).status());
    *canAccessPeer = deviceId != peerDeviceId;
    return {};
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return enter(__func__, [&]() -> Status {
    if (flags != 0) return fail(Code::invalid_argument, "flags is {}; expected 0", flags);
    return service::enable_peer_access(peerDeviceId);
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return enter(__func__, [&] { return service::disable_peer_access(peerDeviceId); });
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_ASSIGN(*status, service::peer_access(deviceId, peerDeviceId));
    return {};
  });
}
