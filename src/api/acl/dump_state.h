// SPDX-License-Identifier: Apache-2.0
// Which dump is on: that of aclInit's file, or the one set with aclmdlSetDump. Decides what watches
// a model or an operator that is loaded now. Thread-safe.
#pragma once

#include <memory>
#include <span>

#include "api/acl/model_ops.h"
#include "exec/dump.h"
#include "exec/model.h"
#include "om/model.h"

namespace anynpu::acl {

// Null when nothing watches the model. The id comes when it has one.
std::shared_ptr<exec::StepObserver> observer_for_model(const om::Meta& meta, int32_t device);
// The exception dump of an operator that ran without observers: a kernel of the program's own.
void dump_failed_operator(const OpInfo& op, std::span<const exec::Buffer> inputs,
                          std::span<const exec::Buffer> outputs, const Status& status);
// For single operators (dump_op_switch).
std::shared_ptr<exec::StepObserver> observer_for_operators(int32_t device);

}  // namespace anynpu::acl
