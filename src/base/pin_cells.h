// SPDX-License-Identifier: Apache-2.0
// Hazard pointers: which objects threads use at this moment. Before a thread uses an object that
// another one may remove, it writes the object's address into a cell of its own, then checks that
// the object is still there. The remover searches the cells of all threads before freeing it.
// Cheaper than a reference count (one locked instruction on the thread's own cache line instead of
// two on a shared one), and threads that use the same object do not slow each other down.
//
// All calls are thread-safe and lock-free. Rows of cells are never freed; a thread that ends passes
// its row on.
#pragma once

#include <array>
#include <atomic>

namespace anynpu {

using PinCell = std::atomic<const void*>;

struct alignas(64) PinRow {
  static constexpr size_t kCells = 6;
  std::array<PinCell, kCells> cells{};
  std::atomic<bool> owned{true};
  PinRow* next = nullptr;  // set once, before the row is published
};
static_assert(sizeof(PinRow) == 64);

namespace detail {
// The default TLS model of a library that is opened late (an import in Python) costs three times
// the lookup itself; initial-exec takes 8 bytes of the static TLS space of the process.
extern constinit thread_local PinRow* t_pin_row [[gnu::tls_model("initial-exec")]];
// Gives the thread a row; null when the thread is ending or memory is out.
PinRow* take_pin_row();
}  // namespace detail

// Writes `what` into a free cell of this thread, followed by a full barrier: a check made after
// this and a removal cannot miss each other. Null when the thread has no free cell: the caller then
// needs another way. The cell is freed by storing null with release order, from any thread.
inline PinCell* pin_in_cell(const void* what) {
  PinRow* row = detail::t_pin_row;
  if (!row) [[unlikely]] {
    if (!(row = detail::take_pin_row())) return nullptr;
  }
  for (PinCell& cell : row->cells) {
    if (cell.load(std::memory_order_relaxed) == nullptr) {
      cell.exchange(what, std::memory_order_seq_cst);
      return &cell;
    }
  }
  return nullptr;
}

// True while a thread has `what` in a cell. Call after the removal was made visible by a
// sequentially consistent read-modify-write.
bool is_in_cell(const void* what);

// Returns when every cell has been seen without `what` at least once since the call: readers that
// still use it started after the change that the caller made visible as above. Spins, then yields,
// so pins that are waited for this way must be short, and never the caller's own.
void wait_until_unpinned(const void* what);

// Every thread of the process passes a full barrier during this call. For the rare case only: it
// interrupts the other cores.
void barrier_on_all_threads();

}  // namespace anynpu
