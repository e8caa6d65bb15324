// SPDX-License-Identifier: Apache-2.0
// Random numbers in device memory, made by a task of a stream: the same ones for the same seed and
// counter. The counter, 16 bytes of device memory, moves on with each run. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/handle_table.h"
#include "base/result.h"
#include "tensor/dtype.h"

namespace anynpu::service {

// A number that is given, or lies in device memory until the task runs.
struct RandomParameter {
  bool in_memory = false;
  std::array<std::byte, 8> value{};  // or the address
  uint8_t bytes = 0;
};

struct RandomRequest {
  enum class Kind : uint32_t { keep_bits = 0, uniform = 1, normal = 2, truncated_normal = 3 };
  DType type = DType::f32;
  Kind kind = Kind::uniform;
  RandomParameter first, second;  // ratio; least and most; mean and deviation
  void* result = nullptr;
  void* counter = nullptr;
  RandomParameter seed, count;
};

// A request that tasks may change between runs.
struct RandomTask {
  std::mutex mutex;
  RandomRequest request;
};

Status submit_random_numbers(const RandomRequest& request, Handle stream);

// What of `changed` a task takes over: the addresses, the seed and the count.
void change_random_task(RandomTask& task, const RandomRequest& changed);

}  // namespace anynpu::service
