// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity interface, loaded on first use. Thread-safe.
#pragma once

#include <cupti.h>

#include "base/result.h"

namespace anynpu::device::cuda {

#define ANYNPU_CUPTI_FUNCTIONS(X)           \
  X(cuptiGetResultString)                   \
  X(cuptiGetTimestamp)                      \
  X(cuptiActivityRegisterCallbacks)         \
  X(cuptiActivityEnable)                    \
  X(cuptiActivityDisable)                   \
  X(cuptiActivityFlushAll)                  \
  X(cuptiActivityGetNextRecord)             \
  X(cuptiActivityPushExternalCorrelationId) \
  X(cuptiActivityPopExternalCorrelationId)

struct Cupti {
#define X(name) decltype(&::name) name = nullptr;
  ANYNPU_CUPTI_FUNCTIONS(X)
#undef X
};

// The library, or an error that says what is missing.
const Result<Cupti>& cupti();

}  // namespace anynpu::device::cuda
