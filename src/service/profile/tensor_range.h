// SPDX-License-Identifier: Apache-2.0
// Operator descriptions for kernels that a program launches: between a push and its pop, the tasks
// of this thread belong to the operator that the push describes. Ranges nest; they are recorded
// with the operators, and have no effect unless these are collected. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/handle_table.h"
#include "tensor/dtype.h"

namespace anynpu::service {

// The tensors of one side of an operator, as a profile lists them (exec/describe_step.h).
class TensorList {
 public:
  void add(std::span<const uint32_t> shape, DType dtype, Format format);
  std::string text() const { return shapes_ + '\t' + types_ + '\t' + formats_; }

 private:
  std::string shapes_, types_, formats_;
  bool first_ = true;
};

struct TensorRange {
  uint64_t op_name = 0;  // what aclprofStr2Id gave
  uint64_t op_type = 0;  // the same
  TensorList inputs, outputs;
  Handle stream = 0;  // 0: any
  uint32_t blocks = 0, kernel_type = 0;
};

Status push_tensor_range(const TensorRange& range);
// Fails with stamp_not_recorded when this thread has no open range.
Status pop_tensor_range();

}  // namespace anynpu::service
