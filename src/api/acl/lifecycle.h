// SPDX-License-Identifier: Apache-2.0
// Whether the library is initialised, and who has to tidy up when it ends. Any thread may ask; one
// thread at a time starts or ends (init.cpp holds the lock).
#pragma once

#include <atomic>

namespace anynpu::acl {

enum class Life : int { fresh, initialised, finalised };

namespace detail {
extern std::atomic<Life> current_life;
}

inline Life life() { return detail::current_life.load(std::memory_order_acquire); }
inline bool initialised() { return life() == Life::initialised; }

// Registers what aclFinalize calls, last registered first. Register once, for example from a static
// object or on first use; the function must be safe to call again after a later aclInit.
void on_finalize(void (*release)());
void run_finalizers();

}  // namespace anynpu::acl
