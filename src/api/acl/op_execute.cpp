// SPDX-License-Identifier: Apache-2.0
// Executing single operators: by type, by handle, and the operators that have functions of their
// own. A model must be loaded or compiled before, except for Cast.
#include "acl/acl_op.h"
#include "api/acl/entry.h"
#include "service/op/op_call.h"

namespace anynpu::acl {

namespace {

using namespace service;

Status store_handle(Result<std::shared_ptr<OpHandle>> made, aclopHandle** out) {
  if (!made.ok()) return made.status();
  auto handle = insert_object<aclopHandle*>(std::move(*made));
  if (!handle.ok()) return handle.status();
  *out = *handle;
  return {};
}

Status create_handle(const OpArguments& arguments, aclopHandle** out) {
  ANYNPU_TRY(check_pointer(out, "handle"));
  auto op = read_op(arguments);
  if (!op.ok()) return op.status();
  auto model = exec::OpModels::instance().find(*op);
  if (!model.ok()) return model.status();
  return store_handle(prepare_op(*op, std::move(*model)), out);
}

// The operator of aclopCast: `truncate` is reserved.
Result<singleop::SingleOp> cast_op(const aclTensorDesc* from, const aclTensorDesc* to,
                                   uint8_t truncate) {
  if (truncate > 1) {
    return fail(Code::invalid_argument, "truncate is {}; expected 0, it is reserved", truncate);
  }
  ANYNPU_ASSIGN(singleop::SingleOp op, read_op({"Cast", 1, &from, 1, &to, nullptr}));
  op.attrs["dst_type"] = static_cast<int64_t>(op.outputs[0].dtype);
  op.attrs["truncate"] = truncate != 0;
  return op;
}

Result<std::shared_ptr<OpHandle>> prepare_cast(const aclTensorDesc* from, const aclTensorDesc* to,
                                               uint8_t truncate) {
  ANYNPU_ASSIGN(const singleop::SingleOp op, cast_op(from, to, truncate));
  prepare_op_models();
  ANYNPU_ASSIGN(auto model, exec::OpModels::instance().find_or_compile(op));
  return prepare_op(op, std::move(model));
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclopExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                      const aclDataBuffer* const inputs[], int numOutputs,
                      const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                      const aclopAttr* attr, aclrtStream stream) {
  return enter(__func__, [&] {
    return execute_op({opType, numInputs, inputDesc, numOutputs, outputDesc, attr},
                      {numInputs, inputs, numOutputs, outputs}, Missing::fail, to_handle(stream));
  });
}

aclError aclopExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                        aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                        aclDataBuffer* outputs[], aclopAttr* attr, aclrtStream stream) {
  return enter(__func__, [&] {
    return execute_op({opType, numInputs, inputDesc, numOutputs, outputDesc, attr},
                      {numInputs, inputs, numOutputs, outputs}, Missing::fail, to_handle(stream));
  });
}

aclError aclopCreateHandle(const char* opType, int numInputs,
                           const aclTensorDesc* const inputDesc[], int numOutputs,
                           const aclTensorDesc* const outputDesc[], const aclopAttr* opAttr,
                           aclopHandle** handle) {
  return enter(__func__, [&] {
    return create_handle({opType, numInputs, inputDesc, numOutputs, outputDesc, opAttr}, handle);
  });
}

void aclopDestroyHandle(aclopHandle* handle) {
  (void)enter<When::before_init>(__func__,
                                 [&]() -> Status { return remove_object<OpHandle>(handle); });
}

aclError aclopExecWithHandle(aclopHandle* handle, int numInputs,
                             const aclDataBuffer* const inputs[], int numOutputs,
                             aclDataBuffer* const outputs[], aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    auto pin = resolve<OpHandle>(to_handle(handle));
    if (!pin.ok()) return pin.status();
    return submit_op(pin->share(), {numInputs, inputs, numOutputs, outputs}, to_handle(stream),
                     nullptr);
  });
}

aclError aclopCast(const aclTensorDesc* srcDesc, const aclDataBuffer* srcBuffer,
                   const aclTensorDesc* dstDesc, aclDataBuffer* dstBuffer, uint8_t truncate,
                   aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    auto handle = prepare_cast(srcDesc, dstDesc, truncate);
    if (!handle.ok()) return handle.status();
    return submit_op(*handle, {1, &srcBuffer, 1, &dstBuffer}, to_handle(stream), nullptr);
  });
}

aclError aclopCreateHandleForCast(aclTensorDesc* srcDesc, aclTensorDesc* dstDesc, uint8_t truncate,
                                  aclopHandle** handle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    return store_handle(prepare_cast(srcDesc, dstDesc, truncate), handle);
  });
}

}  // extern "C"
