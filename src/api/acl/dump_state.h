// SPDX-License-Identifier: Apache-2.0
// Which dump is on: that of aclInit's file, or the one set with aclmdlSetDump. Decides what watches
// a model or an operator that is loaded now. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "exec/dump.h"
#include "om/model.h"

namespace anynpu::acl {

// Null when nothing watches the model. The id comes when it has one.
std::shared_ptr<exec::StepObserver> observer_for_model(const om::Meta& meta, int32_t device);
// Where what kernels print goes (dump_kernel_data); no folder: nowhere.
struct KernelDumpTarget {
  std::string folder;
  bool prints = false, assertions = false;
};
KernelDumpTarget kernel_dump_target(int32_t device);
// For single operators (dump_op_switch, exceptions), those of the program among them.
std::shared_ptr<exec::StepObserver> observer_for_operators(int32_t device);

}  // namespace anynpu::acl
