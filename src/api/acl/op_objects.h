// SPDX-License-Identifier: Apache-2.0
// Objects of the single-operator functions behind their handles.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "exec/op_models.h"
#include "import/singleop/op.h"

namespace anynpu::acl {

// aclopAttr. Plain data: one thread at a time changes it.
struct OpAttr {
  singleop::Attrs values;
};

// aclopHandle: an operator whose model was found.
struct OpHandle {
  std::shared_ptr<exec::OpModel> model;
  std::shared_ptr<exec::LoadedModel> plan;  // null for operators whose output depends on values
  std::vector<Shape> shapes;                // of the fed inputs
  size_t inputs = 0, outputs = 0;           // as described, with those left out
};

}  // namespace anynpu::acl

namespace anynpu {
ANYNPU_HANDLE_TYPE(acl::OpAttr, op_attr);
ANYNPU_HANDLE_TYPE(acl::OpHandle, op_handle);
}  // namespace anynpu
