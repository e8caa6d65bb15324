// SPDX-License-Identifier: Apache-2.0
// What the functions that execute operators share, here and in the sibling libraries: reading the
// arrays a program passes, finding the model, binding buffers, putting the run into a stream.
#pragma once

#include "acl/acl_op.h"
#include "api/acl/errors.h"
#include "device/stream.h"
#include "service/op/op_objects.h"

namespace anynpu::acl {

using service::OpAttr;
using service::OpHandle;

// The arguments of an operator as the C functions take them.
struct OpArguments {
  const char* type = nullptr;
  int inputs = 0;
  const aclTensorDesc* const* input_desc = nullptr;
  int outputs = 0;
  const aclTensorDesc* const* output_desc = nullptr;
  const aclopAttr* attr = nullptr;  // null: none
};

struct OpBuffers {
  int inputs = 0;
  const aclDataBuffer* const* input = nullptr;
  int outputs = 0;
  aclDataBuffer* const* output = nullptr;
};

// The description, copied.
Result<singleop::SingleOp> read_op(const OpArguments& arguments);

// The model of an operator and its plan for the shapes described.
Result<std::shared_ptr<OpHandle>> prepare_op(const singleop::SingleOp& op,
                                             std::shared_ptr<exec::OpModel> model);

// Queues one run. An operator whose output depends on values runs before the call returns; `shapes`
// receives what its outputs are (null: not wanted).
Status submit_op(const std::shared_ptr<OpHandle>& handle, const OpBuffers& buffers,
                 aclrtStream stream, std::vector<Shape>* shapes);

// As aclopExecuteV2: finds or, with `compile`, makes the model, runs it and writes the shapes of
// the outputs into their descriptions.
enum class Missing { fail, compile };
Status execute_op(const OpArguments& arguments, const OpBuffers& buffers, Missing missing,
                  aclrtStream stream);

// Shapes that do not fit are the operator's input.
Status op_failure(const Status& status);

// Models end with aclFinalize; call before the first one is added.
void prepare_op_models();

}  // namespace anynpu::acl
