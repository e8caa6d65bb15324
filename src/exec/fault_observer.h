// SPDX-License-Identifier: Apache-2.0
// Operators that fail because ANYNPU_FAULT names them (base/fault_injection.h), as an AI Core
// exception: the stream, the exception callback and the exception dump see what they would see
// then.
#pragma once

#include <memory>

#include "exec/observer.h"

namespace anynpu::exec {

// Null when the variable names no operator.
std::shared_ptr<StepObserver> make_fault_observer();

}  // namespace anynpu::exec
