// SPDX-License-Identifier: Apache-2.0
// Who waits for whom: synchronize calls, queries, events, notifies, callbacks.
#include <map>
#include <memory>
#include <mutex>

#include "acl/acl.h"
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
  aclrtCallback function;
  void* data;
  Clock clock;
};

// A callback runs after all that was queued before it.
void run_callback(void* pointer) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(pointer));
  host_waited_for(callback->clock);
  callback->function(callback->data);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) aclError aclrtLaunchCallback(
    aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
  static constexpr Parameter parameters[] = {{"fn", Parameter::other},
                                             {"user_data", Parameter::other},
                                             {"block_type", Parameter::other},
                                             {"stream", Parameter::other}};
  static Function function{"aclrtLaunchCallback", "acl.rt.launch_callback", "libascendcl.so",
                           parameters, true};
  static auto* real = reinterpret_cast<decltype(&aclrtLaunchCallback)>(function.resolve());
  const uint64_t words[] = {word(fn), word(userData), word(blockType), word(stream)};
  Call call(function, words);
  if (!call.counts() || !fn) return call.finish(real(fn, userData, blockType, stream));
  auto callback = std::make_unique<Callback>(fn, userData, clock_of(stream_of(word(stream))));
  const aclError result = call.finish(real(run_callback, callback.get(), blockType, stream));
  if (result == ACL_SUCCESS) (void)callback.release();  // gone with its run; aborted ones stay
  return result;
}
