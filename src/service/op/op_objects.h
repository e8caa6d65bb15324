// SPDX-License-Identifier: Apache-2.0
// Single operators as programs hold them, by handle.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "exec/op_models.h"
#include "import/singleop/op.h"

namespace anynpu::service {

// Attributes. Plain data: one thread at a time changes it.
struct OpAttr {
  singleop::Attrs values;
};

// An operator whose model was found.
struct OpHandle {
  std::shared_ptr<exec::OpModel> model;
  std::shared_ptr<exec::LoadedModel> plan;  // null for operators whose output depends on values
  const device::Device* device = nullptr;   // that the plan is for
  std::vector<Shape> shapes;                // of the fed inputs
  size_t inputs = 0, outputs = 0;           // as described, with those left out
  bool writes_inputs = false;               // outputs may lie in the memory of inputs
};

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::OpAttr, op_attr);
ANYNPU_HANDLE_TYPE(service::OpHandle, op_handle);
}  // namespace anynpu
