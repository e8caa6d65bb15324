// SPDX-License-Identifier: Apache-2.0
// TensorProto of TensorFlow -> constant. tensor_content of some size stays a view into the file;
// the typed lists, of which the last element counts for all that are missing, are spread out.
#pragma once

#include <memory>

#include "base/protowire.h"
#include "graph/graph.h"

namespace anynpu::tensorflow {

struct ConstantTensor {
  DType dtype = DType::undefined;
  Shape shape;
  std::shared_ptr<const graph::Constant> data;
};

// `owner` keeps the bytes that `message` lies in alive. `spread` counts the bytes that short lists
// were spread to, over all tensors of a model: at most 1 GiB.
Result<ConstantTensor> read_tensor(const WireField& message,
                                   const std::shared_ptr<const void>& owner, size_t& spread);

}  // namespace anynpu::tensorflow
