// SPDX-License-Identifier: Apache-2.0
// Whether the library is initialised. Any thread may ask; one thread at a time starts or ends
// (init.cpp holds the lock). What finalising releases is registered with service/finalize.h.
#pragma once

#include <atomic>

#include "service/finalize.h"

namespace anynpu::acl {

enum class Life : int { fresh, initialised, finalised };

namespace detail {
extern std::atomic<Life> current_life;
}

inline Life life() { return detail::current_life.load(std::memory_order_acquire); }
inline bool initialised() { return life() == Life::initialised; }

using service::on_finalize;
using service::run_finalizers;

}  // namespace anynpu::acl
