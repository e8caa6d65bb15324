// SPDX-License-Identifier: Apache-2.0
// Which operator of a model failed (guide 7.10).
#include <cstring>

#include "acl/mdl/desc.h"
#include "api/acl/entry.h"
#include "service/model/failed_ops.h"

using namespace anynpu;
using namespace anynpu::acl;

namespace {

struct OpDescOutputs {
  char* name;
  aclTensorDesc **inputs, **outputs;
  size_t *input_count, *output_count;

  Status check() const {
    ANYNPU_TRY(check_pointer(name, "opName"));
    ANYNPU_TRY(check_pointer(inputs, "inputDesc"));
    ANYNPU_TRY(check_pointer(input_count, "numInputs"));
    ANYNPU_TRY(check_pointer(outputs, "outputDesc"));
    return check_pointer(output_count, "numOutputs");
  }
  Status store(const service::OpHandles& op) const {
    std::memcpy(name, op.name.c_str(), op.name.size() + 1);
    *inputs = from_handle<aclTensorDesc*>(op.inputs);
    *outputs = from_handle<aclTensorDesc*>(op.outputs);
    *input_count = op.input_count;
    *output_count = op.output_count;
    return {};
  }
};

}  // namespace

aclError aclmdlCreateAndGetOpDesc(uint32_t deviceId, uint32_t streamId, uint32_t taskId,
                                  char* opName, size_t opNameLen, aclTensorDesc** inputDesc,
                                  size_t* numInputs, aclTensorDesc** outputDesc,
                                  size_t* numOutputs) {
  return enter(__func__, [&]() -> Status {
    const OpDescOutputs out{opName, inputDesc, outputDesc, numInputs, numOutputs};
    ANYNPU_TRY(out.check());
    ANYNPU_ASSIGN(const auto op,
                  service::describe_failed_op(deviceId, streamId, taskId, opNameLen));
    return out.store(op);
  });
}
