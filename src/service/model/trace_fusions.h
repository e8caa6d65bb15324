// SPDX-License-Identifier: Apache-2.0
// Trace records of a loaded model's fused operators: those that replace several of the source
// model.
#pragma once

#include <cstdint>

#include "exec/shaped_model.h"
#include "om/model.h"

namespace anynpu::service {

// One instant event of category `op` for each. Its name has tab-separated fields: the operator, the
// bytes of inputs, outputs, weights ("-" if a shape is unknown) and workspace, and, last because
// long names are cut, the names that it replaces, separated by ';'. Its argument is the id of the
// model, the first word of its detail the model's name.
void trace_fusions(const om::Model& model, const exec::ShapedModel& loaded, uint32_t id);

}  // namespace anynpu::service
