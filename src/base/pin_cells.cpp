// SPDX-License-Identifier: Apache-2.0
#include "base/pin_cells.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "base/spin.h"

namespace anynpu {

namespace {

constinit std::atomic<PinRow*> g_pin_rows{nullptr};  // rows are pushed, never removed
constinit thread_local bool t_pin_row_returned = false;

struct PinRowReturn {
  ~PinRowReturn() {
    t_pin_row_returned = true;
    if (PinRow* row = detail::t_pin_row) {
      detail::t_pin_row = nullptr;
      row->owned.store(false, std::memory_order_release);
    }
  }
};

PinRow* reuse_row() {
  for (PinRow* row = g_pin_rows.load(std::memory_order_acquire); row; row = row->next) {
    bool expected = false;
    if (!row->owned.load(std::memory_order_relaxed) &&
        row->owned.compare_exchange_strong(expected, true, std::memory_order_acq_rel)) {
      return row;
    }
  }
  return nullptr;
}

}  // namespace

namespace detail {

constinit thread_local PinRow* t_pin_row [[gnu::tls_model("initial-exec")]] = nullptr;

PinRow* take_pin_row() {
  if (t_pin_row_returned) return nullptr;
  thread_local PinRowReturn pin_row_return;
  PinRow* row = reuse_row();
  if (!row) {
    row = new (std::nothrow) PinRow;
    if (!row) return nullptr;
    PinRow* first = g_pin_rows.load(std::memory_order_relaxed);
    do {
      row->next = first;
      // Sequentially consistent, so that a removal which does not see the row is seen by the check
      // that follows the first use of a cell in it.
    } while (!g_pin_rows.compare_exchange_weak(first, row, std::memory_order_seq_cst));
  }
  t_pin_row = row;
  return row;
}

}  // namespace detail

bool is_in_cell(const void* what) {
  for (PinRow* row = g_pin_rows.load(std::memory_order_seq_cst); row; row = row->next) {
    for (const PinCell& cell : row->cells) {
      if (cell.load(std::memory_order_seq_cst) == what) return true;
    }
  }
  return false;
}

void wait_until_unpinned(const void* what) {
  constexpr int kSpins = 200;  // a few microseconds: longer than a reader takes unless interrupted
  for (PinRow* row = g_pin_rows.load(std::memory_order_seq_cst); row; row = row->next) {
    for (const PinCell& cell : row->cells) {
      for (int spins = 0; cell.load(std::memory_order_seq_cst) == what; ++spins) {
        if (spins < kSpins) {
          spin_pause();
        } else {
          sched_yield();
        }
      }
    }
  }
}

void barrier_on_all_threads() {
  static const bool registered =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  if (!registered || syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

}  // namespace anynpu
