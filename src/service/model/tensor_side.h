// SPDX-License-Identifier: Apache-2.0
// Whether something is about a model's inputs or its outputs.
#pragma once

#include <vector>

#include "om/model.h"

namespace anynpu::service {

enum class TensorSide { input, output };

inline const char* name_of(TensorSide side) {
  return side == TensorSide::input ? "input" : "output";
}

inline const std::vector<om::TensorInfo>& tensors_of(const om::Meta& meta, TensorSide side) {
  return side == TensorSide::input ? meta.inputs : meta.outputs;
}

// The failure of buffers or queues that do not fit the tensors of one side.
inline Code mismatch_of(TensorSide side) {
  return side == TensorSide::input ? Code::shape_mismatch : Code::output_mismatch;
}

}  // namespace anynpu::service
