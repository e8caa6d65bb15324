// SPDX-License-Identifier: Apache-2.0
#include "check/runtime_state.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "acl/acl.h"
#include "base/format.h"
#include "check/call.h"
#include "check/order.h"
#include "check/report.h"

namespace anynpu::check {

namespace {

template <typename F>
F* real(const char* name) {
  return reinterpret_cast<F*>(find_real(name));
}

struct Uses {
  int count = 0;
  Site set;
  int left = 0;  // by a finalize
};

struct State {
  std::mutex mutex;
  int inits = 0;
  bool started = false;  // by an init, or by a call before it that was told
  Site init;
  std::map<int32_t, Uses> devices;
};
State& state() {
  static auto* s = new State;
  return *s;
}

void note_init(const Site& site) {
  const std::lock_guard lock(state().mutex);
  state().inits = 1;
  state().started = true;
  state().init = site;
}

// Told once: what comes after it needs the init as well.
void note_use_of_device(Call& call) {
  {
    const std::lock_guard lock(state().mutex);
    if (std::exchange(state().started, true)) return;
  }
  report({"no-init",
          format("{} came before {}; call it first: models, operators and profiling need it",
                 call.function().shown(), python_is_here() ? "acl.init" : "aclInit"),
          {{"called", call.site()}}});
}

// The devices that end with it were not reset: said at the end.
void note_finalize() {
  {
    const std::lock_guard lock(state().mutex);
    state().inits = 0;
    for (auto& [id, uses] : state().devices) {
      uses.left += uses.count;
      uses.count = 0;
    }
  }
  all_done();
}

int32_t note_reset(int32_t device, bool force) {
  {
    const std::lock_guard lock(state().mutex);
    Uses& uses = state().devices[device];
    uses.count = force ? 0 : uses.count - 1;
    if (uses.count > 0) return -1;
    uses.count = 0;
  }
  all_done();
  return device;
}

aclrtMemLocationType location_of(uint64_t address) {
  static auto* get = real<decltype(aclrtPointerGetAttributes)>("aclrtPointerGetAttributes");
  const Unseen unseen;
  aclrtPtrAttributes attributes{};
  const bool known = get(reinterpret_cast<void*>(address), &attributes) == ACL_SUCCESS;
  return known ? attributes.location.type : ACL_MEM_LOCATION_TYPE_UNREGISTERED;
}

}  // namespace

ContextNow context_now() {
  static auto* get_context = real<decltype(aclrtGetCurrentContext)>("aclrtGetCurrentContext");
  static auto* get_device = real<decltype(aclrtGetDevice)>("aclrtGetDevice");
  const Unseen unseen;
  ContextNow now;
  aclrtContext context = nullptr;
  if (get_context(&context) == ACL_SUCCESS) now.context = word(context);
  if (get_device(&now.device) != ACL_SUCCESS) now.device = -1;
  return now;
}

uint64_t stream_of(uint64_t argument) {
  if (argument != 0) return argument;
  static auto* get =
      real<decltype(aclrtCtxGetCurrentDefaultStream)>("aclrtCtxGetCurrentDefaultStream");
  const Unseen unseen;
  aclrtStream stream = nullptr;
  return get(&stream) == ACL_SUCCESS ? word(stream) : 0;
}

bool runs_on_device() {
  static const bool on_device = [] {
    aclrtRunMode mode = ACL_HOST;
    const Unseen unseen;
    real<decltype(aclrtGetRunMode)>("aclrtGetRunMode")(&mode);
    return mode == ACL_DEVICE;
  }();
  return on_device;
}

bool is_device_memory(uint64_t address) {
  return location_of(address) == ACL_MEM_LOCATION_TYPE_DEVICE;
}

bool is_allocated(uint64_t address) {
  return location_of(address) != ACL_MEM_LOCATION_TYPE_UNREGISTERED;
}

int32_t note_devices(Call& call) {
  const std::string_view name = call.function().name;
  if (!call.worked()) return -1;
  if (name == "aclInit") note_init(call.site());
  if (name == "aclFinalize") note_finalize();
  if (name == "aclFinalizeReference" && call.arguments() > 0 && call.pointer(0) &&
      *call.pointer<uint64_t>(0) == 0)
    note_finalize();
  if (name == "aclrtSetDevice" || name == "aclrtCreateContext") note_use_of_device(call);
  if (name == "aclrtSetDevice") {
    Site site = call.site();
    const std::lock_guard lock(state().mutex);
    Uses& uses = state().devices[static_cast<int32_t>(call.argument(0))];
    if (++uses.count == 1 && uses.left == 0) uses.set = std::move(site);
  }
  if (name == "aclrtResetDevice" || name == "aclrtResetDeviceForce")
    return note_reset(static_cast<int32_t>(call.argument(0)), name == "aclrtResetDeviceForce");
  return -1;
}

void report_devices() {
  Site init;
  std::map<int32_t, Uses> devices;
  {
    const std::lock_guard lock(state().mutex);
    if (state().inits > 0) init = state().init;
    devices.swap(state().devices);
  }
  const bool python = python_is_here();
  for (const auto& [id, uses] : devices) {
    const int missing = uses.left + uses.count;
    if (missing <= 0) continue;
    report({"not-reset",
            format("device {} was not given back: {} set_device without a reset; call {} for each",
                   id, missing, python ? "acl.rt.reset_device" : "aclrtResetDevice"),
            {{"set", uses.set}}});
  }
  if (init) {
    report({"not-finalized",
            format("the program ended without {}; call it last",
                   python ? "acl.finalize" : "aclFinalize"),
            {{"initialised", init}}});
  }
}

}  // namespace anynpu::check
