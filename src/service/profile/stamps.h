// SPDX-License-Identifier: Apache-2.0
// The program's own marks, ranges and steps (msproftx). Calls fail with stamp_not_recorded if marks
// are not being recorded or the call is out of order. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/handle_table.h"
#include "prof/stamps.h"

namespace anynpu::service {

// One step of a model's work: one start and one end.
struct ProfilingStep {
  std::atomic<uint64_t> begin{0};
  std::atomic<bool> ended{false};
};
enum class StepTag { start, end };

// Fails while marks are not recorded.
Result<std::shared_ptr<prof::Stamp>> make_stamp();
Status set_stamp_message(Handle stamp, const char* text, size_t length);
Status set_stamp_category(Handle stamp, uint32_t category);
Status name_category(uint32_t category, const char* name);
Status mark(Handle stamp);
// A mark that is also a task of a stream.
Status mark_on_stream(const char* text, size_t length, Handle stream);
// Ranges of one thread, which nest.
Status push_range(Handle stamp);
Status pop_range();
// Ranges that may end in another thread; `range` gets the id.
Status start_range(Handle stamp, uint32_t* range);
Status stop_range(uint32_t range);
Status stamp_step(Handle step, StepTag tag, Handle stream);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::ProfilingStep, prof_step);
}
