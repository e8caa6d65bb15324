// SPDX-License-Identifier: Apache-2.0
// Execution of loaded models: synchronous in the calling thread, asynchronous as a task of a
// stream. The addresses in the datasets are read when the call is made, as documented. Repeated
// executions take no lock and allocate nothing. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/handle_table.h"

namespace anynpu::service {

// Options of one execution, read when the call is made.
struct ExecuteConfig {
  std::atomic<int32_t> stream_timeout_ms{-1};
  std::atomic<void*> work{nullptr};  // memory for the work of the run; null: the model's
  std::atomic<size_t> work_size{0};
};

// Which model, and the datasets of its inputs and outputs.
struct ExecuteCall {
  uint32_t model_id = 0;
  Handle inputs = 0;
  Handle outputs = 0;
};

// In the current context, in the calling thread.
Status execute(const ExecuteCall& call);
// On a stream (0: the default one), with the options of `config` (0: none). Returns when the work
// is queued.
Status execute_async(const ExecuteCall& call, Handle stream, Handle config = 0);
// The same; returns when the stream is done, or its timeout ran out.
Status execute_and_wait(const ExecuteCall& call, Handle stream, Handle config);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::ExecuteConfig, exec_config);
}
