// SPDX-License-Identifier: Apache-2.0
// Attributes that a program sets before it makes a queue. Sets are known by numbers. Thread-safe.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "device/buffer_queue.h"

namespace anynpu::service {

enum class QueueAttribute : int {
  name = 0,   // the value is a const char*
  depth = 1,  // the value is a uint32_t
};

void* create_queue_attributes();
Status destroy_queue_attributes(const void* number);
// `value` points to the value of the attribute, which has `length` bytes.
Status set_queue_attribute(const void* number, QueueAttribute type, size_t length,
                           const void* value);
Status get_queue_attribute(const void* number, QueueAttribute type, size_t length, void* value);
Result<device::QueueOptions> queue_options(const void* number);

}  // namespace anynpu::service
