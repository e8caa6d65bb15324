// SPDX-License-Identifier: Apache-2.0
// Kernels that the program launches itself. Which bytes a kernel writes is only known after its
// run, so the checker waits for the launch. The order of accesses is still checked as if it had
// not waited, because the program did not.
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <vector>

#include "anynpu.h"
#include "check/contents.h"
#include "check/hooks.h"
#include "check/lifetimes.h"
#include "check/order.h"
#include "check/runtime_state.h"

namespace anynpu::check {

namespace {

// A stream that waits for what the program does next cannot run the kernel now: its writes are not
// known then, and mistakes about them are missed.
constexpr std::chrono::seconds kMostWait{1};

struct Launches {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<uint64_t, std::vector<Touched>> done;
  uint64_t last = 0;
};
Launches& launches() {
  static auto* l = new Launches;
  return *l;
}
thread_local uint64_t mine = 0;

void launch_done(void* data, const anynpu_kernel_piece* pieces, size_t count) {
  std::vector<Touched> touched;
  for (size_t i = 0; i < count; ++i) {
    const anynpu_kernel_piece& p = pieces[i];
    // One byte of an allocation represents its use: how much of it is read is unknown.
    touched.push_back({"memory of the kernel", word(p.address), p.changed ? p.bytes : 1,
                       p.changed ? Access::write : Access::read});
  }
  const std::lock_guard lock(launches().mutex);
  launches().done[word(data)] = std::move(touched);
  launches().arrived.notify_all();
}

std::vector<Touched> wait_for(uint64_t number) {
  auto& all = launches();
  std::unique_lock lock(all.mutex);
  all.arrived.wait_for(lock, kMostWait, [&] { return all.done.count(number) > 0; });
  const auto found = all.done.find(number);
  if (found == all.done.end()) return {};
  std::vector<Touched> touched = std::move(found->second);
  all.done.erase(found);
  return touched;
}

void after_launch(Call& call, size_t stream_at) {
  if (!call.worked()) return;
  const std::vector<Touched> touched = wait_for(mine);
  if (touched.empty()) stop_following(0);
  for (const Touched& t : touched) stop_following(t.address);  // it may write what was there
  queue_work(call, stream_of(call.argument(stream_at)), touched);
}

}  // namespace

void before_launch(Call& call) {
  static auto* watch =
      reinterpret_cast<decltype(&anynpu_acl_watch_kernel)>(find_real("anynpu_acl_watch_kernel"));
  {
    const std::lock_guard lock(launches().mutex);
    mine = ++launches().last;
  }
  watch(launch_done, reinterpret_cast<void*>(mine));
}

void after_launch_kernel(Call& call) { after_launch(call, 4); }
void after_launch_kernel_with(Call& call) { after_launch(call, 2); }

}  // namespace anynpu::check
