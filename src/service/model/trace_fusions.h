// SPDX-License-Identifier: Apache-2.0
// What a profile says about a model when it is loaded: its operators that stand for several of the
// source model.
#pragma once

#include <cstdint>

#include "exec/shaped_model.h"
#include "om/model.h"

namespace anynpu::service {

// One instant of the category op each, named by a line of fields between tabs: the operator,
// bytes of inputs, outputs, weights ("-" where a shape is open) and work space, and last, because
// long names are cut, the names it stands for with ';' between them. Its argument is the model's
// id, the first of its detail the model's name.
void trace_fusions(const om::Model& model, const exec::ShapedModel& loaded, uint32_t id);

}  // namespace anynpu::service
