// SPDX-License-Identifier: Apache-2.0
#include "prof/stamps.h"

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/stream.h"

namespace anynpu::prof {

namespace {

struct Open {
  Label label;
  uint64_t begin;
};

struct Ranges {
  std::mutex mutex;
  std::unordered_map<uint32_t, Open> open;
};

Ranges& ranges() {
  static auto* one = new Ranges;
  return *one;
}

struct Categories {
  std::mutex mutex;
  std::unordered_map<uint32_t, trace::NameId> names;
};

Categories& categories() {
  static auto* one = new Categories;
  return *one;
}

constinit std::atomic<uint64_t> g_recording{0};

// What this thread has pushed since the recording began.
std::vector<Open>& pushed() {
  thread_local std::vector<Open> stack;
  thread_local uint64_t recording = 0;
  const uint64_t now = g_recording.load(std::memory_order_relaxed);
  if (recording != now) {
    recording = now;
    stack.clear();
  }
  return stack;
}

constinit std::atomic<uint32_t> g_number{0};
constinit device::TaskKind kMarkEx{"mark_ex", device::Engine::control};

uint32_t next_number() {
  const uint32_t number = g_number.fetch_add(1, std::memory_order_relaxed) + 1;
  return number ? number : next_number();
}

trace::Detail about(StampKind kind, const Label& label, uint32_t number) {
  return {static_cast<uint64_t>(kind) | uint64_t{label.category} << 32, 0, label.domain, number};
}

void end(StampKind kind, const Open& open, uint32_t number) {
  trace::slice(trace::Category::user, open.label.message, open.begin, ticks(),
               trace::current_correlation(), 0, about(kind, open.label, number));
}

}  // namespace

void mark(const Label& label) {
  trace::instant(trace::Category::user, label.message, trace::current_correlation(), 0,
                 about(StampKind::mark, label, 0));
}

Status mark_ex(const Label& label, device::Stream& stream) {
  const uint32_t number = next_number();
  trace::instant(trace::Category::user, label.message, trace::current_correlation(), 0,
                 about(StampKind::mark_ex, label, number));
  return stream.submit({kMarkEx, number}, [] { return Status(); });
}

void push(const Label& label) { pushed().push_back({label, ticks()}); }

Status pop() {
  if (pushed().empty()) {
    return fail(Code::bad_call_order,
                "this thread has pushed no stamp that is still open; call aclprofPush first, in "
                "the same thread");
  }
  end(StampKind::push_pop, pushed().back(), 0);
  pushed().pop_back();
  return {};
}

uint32_t start_range(const Label& label) {
  const uint32_t number = next_number();
  const std::lock_guard lock(ranges().mutex);
  ranges().open[number] = {label, ticks()};
  return number;
}

Status stop_range(uint32_t range) {
  Open open;
  {
    const std::lock_guard lock(ranges().mutex);
    const auto found = ranges().open.find(range);
    if (found == ranges().open.end()) {
      return fail(Code::not_found,
                  "no range with the id {} is open; pass what aclprofRangeStart gave, once", range);
    }
    open = found->second;
    ranges().open.erase(found);
  }
  end(StampKind::start_end, open, range);
  return {};
}

void forget_open_stamps() {
  g_recording.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(ranges().mutex);
  ranges().open.clear();
}

void step(uint64_t begin, uint32_t stream) {
  static constinit trace::StaticName name("step");
  trace::slice(trace::Category::user, name.id(), begin, ticks(), trace::current_correlation(),
               stream, about(StampKind::step, {}, next_number()));
}

void name_category(uint32_t category, trace::NameId name) {
  const std::lock_guard lock(categories().mutex);
  categories().names[category] = name;
}

trace::NameId category_name(uint32_t category) {
  const std::lock_guard lock(categories().mutex);
  const auto found = categories().names.find(category);
  return found == categories().names.end() ? trace::intern(std::to_string(category))
                                           : found->second;
}

}  // namespace anynpu::prof
