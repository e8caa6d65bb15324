// SPDX-License-Identifier: Apache-2.0
// SparePool: objects that are reused instead of created again. take() and give() neither lock nor
// allocate. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace anynpu {

template <typename T, size_t kMost = 32>
class SparePool {
 public:
  SparePool() = default;
  SparePool(const SparePool&) = delete;
  SparePool& operator=(const SparePool&) = delete;
  ~SparePool() {
    while (take()) {
    }
  }

  // Null when the pool is empty.
  std::unique_ptr<T> take() {
    for (std::atomic<T*>& place : places_) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* object = place.exchange(nullptr, std::memory_order_acquire))
        return std::unique_ptr<T>(object);
    }
    return nullptr;
  }

  // Keeps the object, or deletes it when kMost are kept already.
  void give(std::unique_ptr<T> object) {
    for (std::atomic<T*>& place : places_) {
      T* none = nullptr;
      if (!place.compare_exchange_strong(none, object.get(), std::memory_order_release,
                                         std::memory_order_relaxed))
        continue;
      static_cast<void>(object.release());  // the slot owns it now
      return;
    }
  }

 private:
  std::array<std::atomic<T*>, kMost> places_ = {};
};

}  // namespace anynpu
