// SPDX-License-Identifier: Apache-2.0
// What recording may never do: allocate, and wait for whoever drains.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "trace/registry.h"
#include "trace/trace.h"

namespace {
thread_local size_t t_allocations = 0;
}

// NOLINTBEGIN: the operators of this test program count
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++t_allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
// NOLINTEND

namespace anynpu::trace {
namespace {

constexpr size_t kRounds = kBlockEvents;  // of four events: several blocks

void record(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    ANYNPU_TRACE_ZONE(op, "recorded without memory", 1, i);
    counter(0, 7);
    slice(Category::task, 0, 1, 2, 0, 0, {1, 2, 3, 4});
  }
}

TEST(RecordingCost, NothingIsAllocatedPerEvent) {
  discard();
  set_mask(kAllCategories);
  record(1);  // the first event of a thread takes its ring, the first of a name interns it
  const size_t before = t_allocations;
  record(kRounds);
  EXPECT_EQ(t_allocations, before);
  set_mask(0);
  discard();
}

TEST(RecordingCost, RecordingGoesOnWhileADrainIsHeldUp) {
  struct HeldUp : DrainVisitor {
    void on_events(const ThreadInfo&, std::span<const Event>) override {
      inside = true;
      while (!go_on) std::this_thread::yield();
    }
    std::atomic<bool> inside{false}, go_on{false};
  } visitor;
  discard();
  set_mask(kAllCategories);
  record(1);
  std::thread drainer([&] { drain(visitor); });
  while (!visitor.inside) std::this_thread::yield();
  record(kRounds);  // a lock shared with the drain would never be free here
  visitor.go_on = true;
  drainer.join();
  set_mask(0);
  discard();
}

}  // namespace
}  // namespace anynpu::trace
