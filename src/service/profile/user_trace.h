// SPDX-License-Identifier: Apache-2.0
// Marks that a program puts into profiles: up to 18 bytes, as a task of a stream. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/handle_table.h"
#include "base/status.h"

namespace anynpu::service {

inline constexpr int32_t kUserTraceBytes = 18;
Status check_user_trace(int32_t length);
// Shorter data are filled up with zeros.
Status submit_user_trace(std::span<const std::byte> data, Handle stream);

}  // namespace anynpu::service
