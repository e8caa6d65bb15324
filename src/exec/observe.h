// SPDX-License-Identifier: Apache-2.0
// Inserts observers into the steps of a plan when a model is loaded, so that a plan without one
// has no overhead.
#pragma once

#include <memory>

#include "exec/observer.h"
#include "exec/plan.h"

namespace anynpu::exec {

// Calls `observer` for every operator step that it wants.
void observe(Plan& plan, const std::shared_ptr<StepObserver>& observer);

// The same observer for a nested model, whose run has already begun. Null stays null.
std::shared_ptr<StepObserver> inside_a_run(const std::shared_ptr<StepObserver>& observer);

}  // namespace anynpu::exec
