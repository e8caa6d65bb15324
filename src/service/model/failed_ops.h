// SPDX-License-Identifier: Apache-2.0
// Which operator of a model failed, for programs that ask with the ids of a failed task (guide
// 7.10). One instance per process; thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/stream.h"
#include "om/model.h"
#include "tensor/tensor_desc.h"

namespace anynpu::service {

struct OpInfo {
  std::string name;
  std::vector<TensorDesc> inputs, outputs;
  std::vector<size_t> input_at = {}, output_at = {};  // which operand of the node each one is
};

// The operators of a model whose shapes are fixed; none for others, as the guide says.
std::vector<OpInfo> describe_ops(const om::Model& model);

class FailedOps {
 public:
  static FailedOps& instance();

  // Called in the thread of a failed execution, before the failure is reported: stores which of
  // `ops` failed.
  void note(const std::vector<OpInfo>& ops);
  void note(OpInfo op);
  // Called by the report, in the same thread: from now on the operator is found by the ids of the
  // task. The last 64 failures are kept.
  void file(const device::TaskFailure& failure);
  // Fails with invalid_argument when no operator of a model failed there.
  Result<OpInfo> find(uint32_t device, uint32_t stream, uint32_t task);

 private:
  struct FailedOp {
    uint32_t device, stream, task;
    OpInfo op;
  };
  static std::optional<OpInfo>& noted_in_this_thread();
  std::mutex mutex_;
  std::deque<FailedOp> failures_;
};

// The tensor descriptions of one operator as programs get them: one handle that stands for all of
// its inputs, one for all of its outputs.
struct OpHandles {
  std::string name;
  Handle inputs = 0, outputs = 0;
  size_t input_count = 0, output_count = 0;
};
// `name_room`: bytes that the program has for the name, with its closing zero.
Result<OpHandles> describe_failed_op(uint32_t device, uint32_t stream, uint32_t task,
                                     size_t name_room);

}  // namespace anynpu::service
