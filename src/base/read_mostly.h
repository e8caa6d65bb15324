// SPDX-License-Identifier: Apache-2.0
// ReadMostly: a value that is read on every call and rarely changed (read-copy-update). A reader
// sees one complete version and takes no lock. A writer changes a copy, publishes it, and returns
// when no reader is left on the old version. Thread-safe.
//
// Keep reads short: do not wait or change the same value during one. A read takes one cell of its
// thread (pin_cells.h); a thread without a free cell takes the writers' lock instead.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/pin_cells.h"

namespace anynpu {

template <typename T>
class ReadMostly {
 public:
  ReadMostly() : current_(new T()) {}
  ReadMostly(const ReadMostly&) = delete;
  ReadMostly& operator=(const ReadMostly&) = delete;
  ~ReadMostly() { delete current_.load(std::memory_order_relaxed); }

  class Reading {
   public:
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
      if (cell_) cell_->store(nullptr, std::memory_order_release);
    }
    const T& operator*() const { return *value_; }
    const T* operator->() const { return value_; }

   private:
    friend class ReadMostly;
    explicit Reading(const ReadMostly& of) : cell_(pin_in_cell(&of)) {
      if (!cell_) [[unlikely]]
        lock_ = std::unique_lock(of.mutex_);
      value_ = of.current_.load(std::memory_order_seq_cst);
    }
    PinCell* cell_;
    std::unique_lock<std::mutex> lock_;
    const T* value_;
  };

  Reading read() const { return Reading(*this); }

  // Calls `edit` with a copy of the value and publishes the copy.
  template <typename Edit>
  void change(Edit&& edit) {
    std::unique_ptr<const T> before;  // destroyed after the lock is released: it may be large
    const std::lock_guard lock(mutex_);
    auto next = std::make_unique<T>(*current_.load(std::memory_order_relaxed));
    std::forward<Edit>(edit)(*next);
    before.reset(current_.exchange(next.release(), std::memory_order_seq_cst));
    wait_until_unpinned(this);
  }

 private:
  mutable std::mutex mutex_;  // held by writers
  std::atomic<const T*> current_;
};

}  // namespace anynpu
