// SPDX-License-Identifier: Apache-2.0
// Peer access between devices (acl.rt.device_can_access_peer and its kin).
#include <mutex>
#include <set>
#include <utility>

#include "acl/rt/device.h"
#include "api/acl/entry.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using device::Runtime;

namespace {

// Which (device, peer) pairs were enabled. Copies between devices work either way, as addresses are
// shared; the pairs are what the status call answers.
struct Peers {
  std::mutex mutex;
  std::set<std::pair<int32_t, int32_t>> enabled;
};
Peers& peers() {
  static auto* all = new Peers;
  return *all;
}

// The current device and `peer`, checked: two different devices.
Result<std::pair<int32_t, int32_t>> pair_with(int32_t peer) {
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  ANYNPU_TRY(Runtime::instance().device(peer).status());
  const int32_t own = context->device()->id();
  if (own == peer) {
    return fail(Code::invalid_argument, "device {} is the current device; a peer is another one",
                peer);
  }
  return std::pair{own, peer};
}

}  // namespace

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
    ANYNPU_ASSIGN(const auto pair, pair_with(peerDeviceId));
    std::lock_guard lock(peers().mutex);
    peers().enabled.insert(pair);
    return {};
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto pair, pair_with(peerDeviceId));
    std::lock_guard lock(peers().mutex);
    if (peers().enabled.erase(pair)) return {};
    return fail(Code::bad_call_order,
                "peer access from device {} to device {} is not enabled; enable it first",
                pair.first, pair.second);
  });
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    ANYNPU_TRY(Runtime::instance().device(peerDeviceId).status());
    std::lock_guard lock(peers().mutex);
    *status = peers().enabled.count({deviceId, peerDeviceId}) > 0;
    return {};
  });
}
