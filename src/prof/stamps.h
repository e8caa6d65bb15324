// SPDX-License-Identifier: Apache-2.0
// The program's own marks and ranges (msproftx). The message of a stamp is interned when it is set,
// so that marking takes no lock and no memory. Push and pop nest per thread; ranges may end in
// another thread. Nothing is recorded unless the user category is on. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/handle_table.h"
#include "base/result.h"
#include "trace/trace.h"

namespace anynpu::device {
class Stream;
}

namespace anynpu::prof {

constexpr size_t kLongestMessage = 127;

// As the documents number them; `step` is ours, for aclprofGetStepTimestamp.
enum class StampKind : uint32_t { mark = 0, push_pop = 1, start_end = 2, mark_ex = 3, step = 4 };

// The labels of a mark or range; all three are interned names, 0 for none.
struct Label {
  trace::NameId message = 0;
  trace::NameId domain = 0;
  trace::NameId category = 0;
};

struct Stamp {
  std::atomic<trace::NameId> message{0};
  std::atomic<trace::NameId> category{0};

  Label label() const {
    return {message.load(std::memory_order_relaxed), 0, category.load(std::memory_order_relaxed)};
  }
};

inline bool stamps_on() { return trace::enabled(trace::Category::user); }

void mark(const Label& label);
// A mark that also goes into a stream, as a task.
Status mark_ex(const Label& label, device::Stream& stream);
void push(const Label& label);
// Fails with bad_call_order when this thread has pushed nothing.
Status pop();
// Never 0.
uint32_t start_range(const Label& label);
// Fails with not_found.
Status stop_range(uint32_t range);
// Drops ranges that are still open: a recording starts, and they began before
// it.
void forget_open_stamps();
// One step of a model's work, from `begin` (ticks) to now.
void step(uint64_t begin, uint32_t stream);

// The program numbers its categories and may name them, for the whole process. A category without a
// name is shown as its number.
void name_category(uint32_t category, trace::NameId name);
trace::NameId category_name(uint32_t category);

}  // namespace anynpu::prof

namespace anynpu {
ANYNPU_HANDLE_TYPE(prof::Stamp, prof_stamp);
}
