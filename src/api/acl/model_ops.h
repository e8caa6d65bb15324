// SPDX-License-Identifier: Apache-2.0
// The operators of a loaded model, for programs that ask which one failed (guide 7.10).
#pragma once

#include <string>
#include <vector>

#include "device/stream.h"
#include "om/model.h"
#include "tensor/tensor_desc.h"

namespace anynpu::acl {

struct OpInfo {
  std::string name;
  std::vector<TensorDesc> inputs, outputs;
  std::vector<size_t> input_at = {}, output_at = {};  // which operand of the node each one is
};

// The operators of a model whose shapes are fixed; none for others, as the guide says.
std::vector<OpInfo> describe_ops(const om::Model& model);

// Called where an execution failed, in its thread, before the failure is reported: remembers which
// of `ops` it was.
void note_failed_op(const std::vector<OpInfo>& ops);
void note_failed_op(OpInfo op);
// Called by the report, in the same thread: from now on the operator is found by these ids. The
// last 64 failures are kept.
void file_failed_op(const device::TaskFailure& failure);

}  // namespace anynpu::acl
