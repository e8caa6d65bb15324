// SPDX-License-Identifier: Apache-2.0
// A task of one stream that rewrites a recorded task of a bound stream. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/handle_table.h"
#include "base/status.h"
#include "service/random/random_numbers.h"

namespace anynpu::service {

struct TaskUpdate {
  enum class Kind : uint8_t { random, kernel };
  // Reads a request as the program laid it out.
  using ReadRandom = RandomRequest (*)(std::span<const std::byte> bytes);

  Kind kind = Kind::random;
  const void* source = nullptr;  // a request in device memory
  size_t bytes = 0;
  ReadRandom read = nullptr;
  Handle binary = 0;
  const void* entry = nullptr;   // device memory with the address of the function,
  const void* blocks = nullptr;  // and with the number of blocks
};

// `number` is that of the task in its stream.
Status update_task_async(Handle task_stream, uint32_t number, const TaskUpdate& update,
                         Handle exec_stream);

}  // namespace anynpu::service
