// SPDX-License-Identifier: Apache-2.0
// Executing single operators: reading the arrays that a program passes, finding the model, binding
// buffers, putting the run into a stream. Thread-safe.
#pragma once

#include "device/stream.h"
#include "service/op/op_objects.h"

namespace anynpu::service {

// The arguments of an operator as the interface takes them: arrays of handles.
struct OpArguments {
  template <typename In, typename Out>
  OpArguments(const char* op_type, int input_count, In* const* input_descs, int output_count,
              Out* const* output_descs, const void* attributes)
      : type(op_type),
        inputs(input_count),
        input_desc(reinterpret_cast<const void* const*>(input_descs)),
        outputs(output_count),
        output_desc(reinterpret_cast<const void* const*>(output_descs)),
        attr(attributes) {}

  const char* type;
  int inputs;
  const void* const* input_desc;
  int outputs;
  const void* const* output_desc;
  const void* attr;  // null: none
};

struct OpBuffers {
  template <typename In, typename Out>
  OpBuffers(int input_count, In* const* input_buffers, int output_count, Out* const* output_buffers)
      : inputs(input_count),
        input(reinterpret_cast<const void* const*>(input_buffers)),
        outputs(output_count),
        output(reinterpret_cast<const void* const*>(output_buffers)) {}

  int inputs;
  const void* const* input;
  int outputs;
  const void* const* output;
};

// The description, copied.
Result<singleop::SingleOp> read_op(const OpArguments& arguments);

// The model of an operator and its plan for the shapes described, on the current device or on
// `device`; null: with the kernels of the CPU.
Result<std::shared_ptr<OpHandle>> prepare_op(const singleop::SingleOp& op,
                                             std::shared_ptr<exec::OpModel> model);
Result<std::shared_ptr<OpHandle>> prepare_op(const singleop::SingleOp& op,
                                             std::shared_ptr<exec::OpModel> model,
                                             const std::shared_ptr<device::Device>& device);

// Queues one run. An operator with a data-dependent output shape runs before the call returns;
// `shapes` receives its output shapes (null: not needed).
Status submit_op(std::shared_ptr<OpHandle> handle, const OpBuffers& buffers, Handle stream,
                 std::vector<Shape>* shapes);

// Finds or, with `compile`, makes the model, runs it and writes the shapes of the outputs into
// their descriptions.
enum class Missing { fail, compile };
Status execute_op(const OpArguments& arguments, const OpBuffers& buffers, Missing missing,
                  Handle stream);

// Reports shapes that do not fit as errors of the operator's input.
Status op_failure(const Status& status);

// Registers the cleanup of operator models at finalize; called before the first one is added.
void prepare_op_models();

}  // namespace anynpu::service
