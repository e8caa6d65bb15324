// SPDX-License-Identifier: Apache-2.0
// Splices observers into the steps of a plan when a model is loaded, so that a
// plan without one tests nothing.
#pragma once

#include <memory>

#include "exec/observer.h"
#include "exec/plan.h"

namespace anynpu::exec {

// Every step of an operator that `observer` wants tells it.
void observe(Plan& plan, const std::shared_ptr<StepObserver>& observer);

// The same observer for a model inside another: the run has begun already. Null stays null.
std::shared_ptr<StepObserver> inside_a_run(const std::shared_ptr<StepObserver>& observer);

}  // namespace anynpu::exec
