// SPDX-License-Identifier: Apache-2.0
// TensorProto of TensorFlow -> constant. A large tensor_content stays a view into the file; a typed
// list that is too short is expanded by repeating its last element, as TensorFlow does.
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

// `owner` keeps the bytes of `message` alive. `spread` counts the bytes that short lists were
// expanded to, over all tensors of a model: at most 1 GiB.
Result<ConstantTensor> read_tensor(const WireField& message,
                                   const std::shared_ptr<const void>& owner, size_t& spread);

}  // namespace anynpu::tensorflow
