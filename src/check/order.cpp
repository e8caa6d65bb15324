// SPDX-License-Identifier: Apache-2.0
#include "check/order.h"

#include <algorithm>
#include <mutex>

#include "base/format.h"
#include "check/call.h"
#include "check/contents.h"
#include "check/guard.h"
#include "check/host_buffers.h"
#include "check/lifetimes.h"
#include "check/report.h"
#include "check/runtime_state.h"

namespace anynpu::check {

namespace {

constexpr size_t kMostPending =
    8192;  // older work is forgotten: mistakes may be missed, not made up

struct Pending {
  uint64_t stream, number;
  Touched touched;
  const char* function;
  Site site;
};

struct Stream {
  uint64_t last = 0;  // number of its last task
  Clock clock;
  int32_t device = -1;
};

struct State {
  std::mutex mutex;
  std::map<uint64_t, Stream> streams;
  Clock host;
  std::vector<Pending> pending;
};
State& state() {
  static auto* s = new State;
  return *s;
}

uint64_t at(const Clock& clock, uint64_t stream) {
  const auto found = clock.find(stream);
  return found == clock.end() ? 0 : found->second;
}

void join(Clock& into, const Clock& from) {
  for (const auto& [stream, number] : from) {
    uint64_t& mine = into[stream];
    mine = std::max(mine, number);
  }
}

bool overlap(const Touched& a, const Touched& b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

// Takes out the work that the host has waited for. Called with the lock held.
std::vector<Pending> take_done() {
  const auto waiting = [](const Pending& p) { return at(state().host, p.stream) < p.number; };
  auto& pending = state().pending;
  const auto first_done = std::stable_partition(pending.begin(), pending.end(), waiting);
  std::vector<Pending> done(std::make_move_iterator(first_done),
                            std::make_move_iterator(pending.end()));
  pending.erase(first_done, pending.end());
  return done;
}

// Without the lock.
void check_buffers_of(const std::vector<Pending>& done) {
  for (const Pending& p : done) {
    check_host_buffer_of_task(p.function, p.touched.address, p.site);
  }
}

// The first piece of queued work that `mine` collides with and that is not in `clock`.
const Pending* collision(const Touched& mine, const Clock& clock) {
  for (const Pending& p : state().pending) {
    if (mine.access == Access::read && p.touched.access == Access::read) continue;
    if (overlap(mine, p.touched) && at(clock, p.stream) < p.number) return &p;
  }
  return nullptr;
}

const char* verb(Access access) { return access == Access::read ? "reads" : "writes"; }

std::string synchronize() {
  return python_is_here() ? "acl.rt.synchronize_stream" : "aclrtSynchronizeStream";
}

}  // namespace

void queue_work(Call& call, uint64_t stream, const std::vector<Touched>& touched) {
  check_contents(call, touched);
  const ContextNow now = context_now();
  const Site site = call.site();
  std::vector<std::pair<Touched, Pending>> races;
  {
    const std::lock_guard lock(state().mutex);
    Stream& mine = state().streams[stream];
    mine.device = now.device;
    join(mine.clock, state().host);  // what the host knows, it knew before this call
    for (const Touched& t : touched) {
      if (const Pending* other = collision(t, mine.clock)) races.emplace_back(t, *other);
    }
    mine.clock[stream] = ++mine.last;
    if (state().pending.size() + touched.size() > kMostPending)
      state().pending.erase(state().pending.begin(),
                            state().pending.begin() + static_cast<ptrdiff_t>(kMostPending / 2));
    for (const Touched& t : touched) {
      if (t.bytes == 0) continue;
      // Later work of the same stream on the same bytes covers earlier work.
      std::erase_if(state().pending, [&](const Pending& p) {
        return p.stream == stream && p.touched.address == t.address && p.touched.bytes == t.bytes &&
               p.touched.access == t.access;
      });
      state().pending.push_back({stream, mine.last, t, call.function().shown(), site});
    }
  }
  for (const auto& [t, other] : races) {
    report(
        {"race",
         format("{} {} {} bytes at {:#x} ({}) on one stream while {} {} them on another; order the "
                "two with an event (record_event, stream_wait_event)",
                call.function().shown(), verb(t.access), t.bytes, t.address, t.what, other.function,
                verb(other.touched.access)),
         {{"queued", site}, {"other", other.site}}});
  }
}

void host_work(Call& call, const std::vector<Touched>& touched) {
  check_contents(call, touched);
  for (const Touched& t : touched) {
    if (t.bytes == 0) continue;
    Pending found;
    {
      const std::lock_guard lock(state().mutex);
      const Pending* other = collision(t, state().host);
      if (!other) continue;
      found = *other;
    }
    lift_guards_at(t.address, t.bytes);
    const bool reads = t.access == Access::read;
    report(
        {reads ? "read-before-synchronize" : "write-before-synchronize",
         format(
             "{} {} {} bytes at {:#x} ({}) that {} {} on a stream nobody has waited for; call {} "
             "first",
             call.function().shown(), verb(t.access), t.bytes, t.address, t.what, found.function,
             verb(found.touched.access), synchronize()),
         {{reads ? "read" : "written", call.site()}, {"queued", found.site}}});
  }
}

void host_free(Call& call, uint64_t address) {
  const auto block = block_at(address);
  if (!block || block->base != address) return;
  const Touched all{"memory", block->base, block->bytes, Access::write};
  Pending found;
  {
    const std::lock_guard lock(state().mutex);
    const Pending* other = collision(all, state().host);
    if (!other) return;
    found = *other;
    std::erase_if(state().pending, [&](const Pending& p) { return overlap(all, p.touched); });
  }
  lift_guards_at(block->base, block->bytes);
  report({"free-before-synchronize",
          format("{} frees {} bytes at {:#x} that {} {} on a stream nobody has waited for; call {} "
                 "first",
                 call.function().shown(), block->bytes, address, found.function,
                 verb(found.touched.access), synchronize()),
          {{"freed", call.site()}, {"queued", found.site}, {"created", block->created}}});
}

Clock clock_of(uint64_t stream) {
  const std::lock_guard lock(state().mutex);
  Stream& mine = state().streams[stream];
  join(mine.clock, state().host);
  return mine.clock;
}

void stream_waits_for(uint64_t stream, const Clock& clock) {
  const std::lock_guard lock(state().mutex);
  join(state().streams[stream].clock, clock);
}

void host_waited_for(const Clock& clock) {
  std::vector<Pending> done;
  {
    const std::lock_guard lock(state().mutex);
    join(state().host, clock);
    done = take_done();
  }
  settle_guards();
  check_buffers_of(done);
}

void host_waited_for_device(int32_t device) {
  std::vector<Pending> done;
  {
    const std::lock_guard lock(state().mutex);
    for (const auto& [key, stream] : state().streams) {
      if (stream.device == device || stream.device < 0) join(state().host, stream.clock);
    }
    done = take_done();
  }
  settle_guards();
  check_buffers_of(done);
}

void all_done() {
  std::vector<Pending> done;
  {
    const std::lock_guard lock(state().mutex);
    for (const auto& [key, stream] : state().streams) join(state().host, stream.clock);
    done.swap(state().pending);
  }
  settle_guards();
  check_buffers_of(done);
}

bool is_done(uint64_t stream, uint64_t number) {
  const std::lock_guard lock(state().mutex);
  return at(state().host, stream) >= number;
}

uint64_t last_task(uint64_t stream) {
  const std::lock_guard lock(state().mutex);
  return state().streams[stream].last;
}

}  // namespace anynpu::check
