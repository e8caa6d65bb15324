// SPDX-License-Identifier: Apache-2.0
// Whether the library is initialised. Any thread may ask; one thread at a time starts or ends it.
// Cleanup functions are registered with service/finalize.h.
#pragma once

#include <atomic>
#include <mutex>

#include "base/status.h"

namespace anynpu::service {

enum class Life : int { fresh, initialised, finalised };

namespace detail {
extern std::atomic<Life> current_life;
}

inline Life life() { return detail::current_life.load(std::memory_order_acquire); }
inline bool initialised() { return life() == Life::initialised; }
// Why calls are not allowed now: before the start or after the end.
Status explain_uninitialised();

// The number of initialisations, including refused ones after the first. Guarded by
// LifeChange.
uint64_t count_initialisation();
// One less; how many are left.
uint64_t drop_initialisation();
void forget_initialisations();

// Held by whoever starts or ends the library.
class LifeChange {
 public:
  LifeChange();
  void to(Life next) { detail::current_life.store(next, std::memory_order_release); }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace anynpu::service
