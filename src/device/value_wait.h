// SPDX-License-Identifier: Apache-2.0
// Memory values as signals: a stream writes a 64-bit value, or waits until a value in memory meets
// a condition. A wait parks its stream and polls after 10 us, then less often, down to every 2 ms,
// because writers (a stream, the host, another process) send no notification. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "device/stream.h"

namespace anynpu::device {

enum class ValueCondition : uint32_t {
  at_least = 0,     // (int64)(memory - value) >= 0
  equal = 1,        // memory == value
  any_bit = 2,      // (memory & value) != 0
  missing_bit = 3,  // ~(memory | value) != 0
};
bool holds(ValueCondition condition, uint64_t memory, uint64_t value);

// `address` is 8-byte aligned and holds 8 bytes.
Status write_value(void* address, uint64_t value, Stream& stream);
Status wait_value(const void* address, uint64_t value, ValueCondition condition, Stream& stream);

// The same as tasks outside of a stream.
Result<std::unique_ptr<KeptTask>> write_value_task(void* address, uint64_t value);
Result<std::unique_ptr<KeptTask>> wait_value_task(const void* address, uint64_t value,
                                                  ValueCondition condition);
bool is_value_wait(const TaskKind& kind);

}  // namespace anynpu::device
