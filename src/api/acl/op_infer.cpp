// SPDX-License-Identifier: Apache-2.0
// aclopInferShape (guide 6.6).
#include "service/op/op_infer.h"

#include "acl/acl_op.h"
#include "api/acl/entry.h"

using namespace anynpu::acl;

extern "C" aclError aclopInferShape(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                    aclDataBuffer* inputs[], int numOutputs,
                                    aclTensorDesc* outputDesc[], aclopAttr* attr) {
  return enter(__func__, [&] {
    return anynpu::service::infer_shapes(
        {opType, numInputs, inputDesc, numOutputs, outputDesc, attr},
        reinterpret_cast<const void* const*>(inputs));
  });
}
