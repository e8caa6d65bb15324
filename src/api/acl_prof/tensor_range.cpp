// SPDX-License-Identifier: Apache-2.0
// Operator descriptions for kernels that a program launches (aclprofRangePushEx).
#include "service/profile/tensor_range.h"

#include "acl/acl_prof.h"
#include "api/acl/entry.h"

using namespace anynpu;
using namespace anynpu::acl;

namespace {

constexpr uint32_t kMostTensors = 1024;

Status check_message(const aclprofEventAttributes* attr) {
  ANYNPU_TRY(check_pointer(attr, "attr"));
  if (attr->size < sizeof(aclprofEventAttributes) ||
      attr->messageType != ACL_PROF_MESSAGE_TYPE_TENSOR_INFO) {
    return fail(Code::invalid_argument,
                "size is {} and messageType {}; expected {} or more, and 0 (tensor information)",
                attr->size, attr->messageType, sizeof(aclprofEventAttributes));
  }
  return check_pointer(attr->message.tensorInfo, "tensorInfo");
}

Status add_tensors(const aclprofTensorInfo& info, service::TensorRange& range) {
  if (info.tensorNum > kMostTensors) {
    return fail(Code::invalid_argument, "tensorNum is {}; expected at most {}", info.tensorNum,
                kMostTensors);
  }
  if (info.tensorNum > 0) ANYNPU_TRY(check_pointer(info.tensors, "tensors"));
  for (uint32_t i = 0; i < info.tensorNum; ++i) {
    const aclprofTensor& tensor = info.tensors[i];
    if (tensor.type > 1 || tensor.shapeDim > ACL_PROF_TENSOR_DATA_SHAPE_LEN) {
      return fail(Code::invalid_argument,
                  "tensor {} has type {} and {} dimensions; expected 0 (input) or 1 (output), and "
                  "at most {}",
                  i, tensor.type, tensor.shapeDim, ACL_PROF_TENSOR_DATA_SHAPE_LEN);
    }
    (tensor.type == 0 ? range.inputs : range.outputs)
        .add({tensor.shape, tensor.shapeDim}, static_cast<DType>(tensor.dataType),
             static_cast<Format>(static_cast<int32_t>(tensor.format)));
  }
  return {};
}

Result<service::TensorRange> to_range(const aclprofEventAttributes* attr) {
  ANYNPU_TRY(check_message(attr));
  const aclprofTensorInfo& info = *attr->message.tensorInfo;
  service::TensorRange range{info.opNameId,  info.opTypeId,  {}, {}, to_handle(info.stream),
                             info.blockNums, info.kernelType};
  ANYNPU_TRY(add_tensors(info, range));
  return range;
}

}  // namespace

extern "C" {

aclError aclprofRangePushEx(aclprofEventAttributes* attr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const service::TensorRange range, to_range(attr));
    return service::push_tensor_range(range);
  });
}

aclError aclprofRangePop(void) { return enter(__func__, service::pop_tensor_range); }

}  // extern "C"
