// SPDX-License-Identifier: Apache-2.0
// Makes operators fail that ANYNPU_FAULT names (base/fault_injection.h), like an AI Core exception:
// the stream, the exception callback and the exception dump behave as they would
// then.
#pragma once

#include <memory>

#include "exec/observer.h"

namespace anynpu::exec {

// Null when the variable names no operator.
std::shared_ptr<StepObserver> make_fault_observer();

}  // namespace anynpu::exec
