// SPDX-License-Identifier: Apache-2.0
#include "prof/stamps.h"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace anynpu::prof {

namespace {

struct Open {
  trace::NameId message;
  trace::NameId domain;
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

std::vector<Open>& pushed() {
  thread_local std::vector<Open> stack;
  return stack;
}

constinit std::atomic<uint32_t> g_number{0};

uint32_t next_number() {
  const uint32_t number = g_number.fetch_add(1, std::memory_order_relaxed) + 1;
  return number ? number : next_number();
}

trace::Detail about(StampKind kind, trace::NameId domain, uint32_t number) {
  return {static_cast<uint64_t>(kind), 0, domain, number};
}

void end(StampKind kind, const Open& open, uint32_t number) {
  trace::slice(trace::Category::user, open.message, open.begin, ticks(),
               trace::current_correlation(), 0, about(kind, open.domain, number));
}

}  // namespace

void mark(trace::NameId message, trace::NameId domain) {
  trace::instant(trace::Category::user, message, trace::current_correlation(), 0,
                 about(StampKind::mark, domain, 0));
}

uint32_t mark_ex(trace::NameId message, trace::NameId domain) {
  const uint32_t number = next_number();
  trace::instant(trace::Category::user, message, trace::current_correlation(), 0,
                 about(StampKind::mark_ex, domain, number));
  return number;
}

void push(trace::NameId message) { pushed().push_back({message, 0, ticks()}); }

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

uint32_t start_range(trace::NameId message, trace::NameId domain) {
  const uint32_t number = next_number();
  const std::lock_guard lock(ranges().mutex);
  ranges().open[number] = {message, domain, ticks()};
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

void step(uint64_t begin, uint32_t stream) {
  static constinit trace::StaticName name("step");
  trace::slice(trace::Category::user, name.id(), begin, ticks(), trace::current_correlation(),
               stream, about(StampKind::step, 0, next_number()));
}

}  // namespace anynpu::prof
