// SPDX-License-Identifier: Apache-2.0
// Converts constants of the vendor's files from the chip's formats (NC1HWC0, FRACTAL_Z, FRACTAL_NZ)
// back to the format of the source model.
#pragma once

#include "graph/graph.h"
#include "import/ge/ge.h"

namespace anynpu::ge {

struct PlainConstant {
  DType dtype = DType::undefined;
  Shape shape;
  graph::Constant data;
};

// The bytes of a constant, from the file's description or from its part of weights, in the format
// of the source model. `desc` is the output description of the operator that holds it; may be null.
// Fails with corrupt_model for places outside the file, with unsupported_feature for formats that
// cannot be undone.
Result<PlainConstant> constant_of(const TensorDef& value, const TensorDef* desc,
                                  const Source& source);

// The format of a tensor when the chip's are undone; ND for those that are not known.
Format plain_format(const TensorDef& desc);

}  // namespace anynpu::ge
