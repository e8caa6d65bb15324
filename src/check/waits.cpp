// SPDX-License-Identifier: Apache-2.0
// Who waits for whom: synchronize calls, queries, events, notifies, callbacks.
#include <map>
#include <memory>
#include <mutex>

#include "acl/acl.h"
#include "anynpu.h"
#include "check/hooks.h"
#include "check/order.h"
#include "check/runtime_state.h"

namespace anynpu::check {

namespace {

// Clocks of events and notifies when they were recorded last.
std::mutex mutex;
std::map<uint64_t, Clock>& recorded() {
  static auto* map = new std::map<uint64_t, Clock>;
  return *map;
}

Clock clock_of_event(uint64_t event) {
  const std::lock_guard lock(mutex);
  const auto found = recorded().find(event);
  return found == recorded().end() ? Clock() : found->second;
}

// A failed task is over as well; only a wait that gave up says nothing.
bool waited(const Call& call) {
  const auto code = static_cast<aclError>(call.result());
  return code != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT && code != ACL_ERROR_RT_EVENT_SYNC_TIMEOUT &&
         code != ACL_ERROR_RT_PARAM_INVALID;
}

}  // namespace

void after_synchronize_stream(Call& call) {
  if (waited(call)) host_waited_for(clock_of(stream_of(call.argument(0))));
}

void after_synchronize_device(Call& call) {
  if (waited(call)) host_waited_for_device(context_now().device);
}

void after_synchronize_event(Call& call) {
  if (waited(call)) host_waited_for(clock_of_event(call.argument(0)));
}

void after_query_stream(Call& call) {
  if (call.worked() && *call.pointer<int32_t>(1) == ACL_STREAM_STATUS_COMPLETE)
    host_waited_for(clock_of(stream_of(call.argument(0))));
}

void after_query_event(Call& call) {
  if (call.worked() && *call.pointer<int32_t>(1) == ACL_EVENT_STATUS_COMPLETE)
    host_waited_for(clock_of_event(call.argument(0)));
}

void after_query_event_status(Call& call) {
  if (call.worked() && *call.pointer<int32_t>(1) == ACL_EVENT_RECORDED_STATUS_COMPLETE)
    host_waited_for(clock_of_event(call.argument(0)));
}

void after_record(Call& call) {
  if (!call.worked()) return;
  Clock clock = clock_of(stream_of(call.argument(1)));
  const std::lock_guard lock(mutex);
  recorded()[call.argument(0)] = std::move(clock);
}

void after_wait_event(Call& call) {
  if (call.worked())
    stream_waits_for(stream_of(call.argument(0)), clock_of_event(call.argument(1)));
}

void after_wait_notify(Call& call) {
  if (call.worked())
    stream_waits_for(stream_of(call.argument(1)), clock_of_event(call.argument(0)));
}

// Destroying waits for what is queued; aborting drops it.
void before_destroy_stream(Call& call) { host_waited_for(clock_of(call.argument(0))); }

// Whoever writes the value may have waited for anything: taken as ordered after all that is queued.
void after_value_wait(Call& call) {
  if (call.worked()) all_done();
}

}  // namespace anynpu::check

using namespace anynpu::check;

namespace {

struct Callback {
  void (*function)(void*);
  void* data;
  void (*release)(void*);  // null: nobody asks
  Clock clock;
};

// A callback runs after all that was queued before it.
void run_callback(void* pointer) {
  const auto* callback = static_cast<Callback*>(pointer);
  host_waited_for(callback->clock);
  callback->function(callback->data);
}

void release_callback(void* pointer) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(pointer));
  if (callback->release) callback->release(callback->data);
}

constexpr Parameter kLaunchParameters[] = {{"fn", Parameter::other},
                                           {"user_data", Parameter::other},
                                           {"block_type", Parameter::other},
                                           {"stream", Parameter::other}};

// For both functions below; `release` is called once, whatever happens to the launch.
int launch(Function& function, void (*fn)(void*), void* data, void (*release)(void*),
           int block_type, void* stream) {
  static auto* real = reinterpret_cast<decltype(&anynpu_acl_launch_callback)>(
      find_real("anynpu_acl_launch_callback"));
  const uint64_t words[] = {word(fn), word(data), word(block_type), word(stream)};
  Call call(function, words);
  if (!call.counts() && release) return call.finish(real(fn, data, release, block_type, stream));
  auto* callback = new Callback{fn, data, release, clock_of(stream_of(word(stream)))};
  return call.finish(real(run_callback, callback, release_callback, block_type, stream));
}

}  // namespace

#pragma GCC visibility push(default)

// What acl.rt.launch_callback calls.
extern "C" int anynpu_acl_launch_callback(void (*fn)(void*), void* user_data,
                                          void (*release)(void*), int block_type, void* stream) {
  static Function function{"anynpu_acl_launch_callback", "acl.rt.launch_callback", "libascendcl.so",
                           kLaunchParameters, true};
  return launch(function, fn, user_data, release, block_type, stream);
}

extern "C" aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                        aclrtCallbackBlockType blockType, aclrtStream stream) {
  static Function function{"aclrtLaunchCallback", "acl.rt.launch_callback", "libascendcl.so",
                           kLaunchParameters, true};
  static auto* real = reinterpret_cast<decltype(&aclrtLaunchCallback)>(function.resolve());
  if (!fn || !is_on()) return real(fn, userData, blockType, stream);
  return launch(function, fn, userData, nullptr, static_cast<int>(blockType), stream);
}
