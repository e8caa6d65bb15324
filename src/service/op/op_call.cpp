// SPDX-License-Identifier: Apache-2.0
#include "service/op/op_call.h"

#include <algorithm>
#include <array>

#include "device/memory.h"
#include "device/queue.h"
#include "device/runtime.h"
#include "exec/custom_op.h"
#include "exec/host_buffers.h"
#include "exec/memory.h"
#include "import/singleop/table.h"
#include "service/check_pointer.h"
#include "service/dump/dump_control.h"
#include "service/finalize.h"
#include "service/kernel/kernel_dump.h"
#include "service/model/failed_ops.h"
#include "service/op/host_values.h"
#include "service/op/op_record.h"
#include "service/task_kinds.h"
#include "tensor/data_buffer.h"

namespace anynpu::service {

namespace {

constexpr int kMostTensors = 4096;
constexpr const char* kOperatorCall = "a call of aclopExecute or its kin";

Handle to_handle(const void* pointer) { return reinterpret_cast<Handle>(pointer); }

Status check_array(int count, const void* array, const char* name) {
  if (count < 0 || count > kMostTensors) {
    return fail(Code::invalid_argument, "{} has {} items; expected 0 to {}", name, count,
                kMostTensors);
  }
  return count == 0 ? Status() : check_pointer(array, name);
}

// Frameworks state format and shape of the storage always. Where they repeat those of the tensor,
// the operator is the same as without them.
void forget_plain_storage(TensorDesc& desc) {
  if (desc.storage_format != desc.format) return;
  if (!desc.storage_shape.empty() && desc.storage_shape != desc.shape) return;
  desc.storage_format = Format::undefined;
  desc.storage_shape.clear();
}

Result<std::vector<TensorDesc>> read_descs(int count, const void* const* descs, const char* name) {
  ANYNPU_TRY(check_array(count, descs, name));
  std::vector<TensorDesc> out;
  for (int i = 0; i < count; ++i) {
    ANYNPU_ASSIGN(auto pin, resolve<TensorDesc>(to_handle(descs[i])), "item {} of {}", i, name);
    TensorDesc copy = *pin;
    copy.list.clear();
    copy.list_handles.clear();
    forget_plain_storage(copy);
    out.push_back(std::move(copy));
  }
  return out;
}

// A buffer that a run reads or writes.
struct Bound {
  exec::Buffer buffer;
  std::shared_ptr<device::Allocation> owner;
};

// Which tensor of which operator: what the messages about a buffer name.
struct OperandPosition {
  const std::string& op;
  bool input;
  size_t index;
  const char* side() const { return input ? "input" : "output"; }
};

Status bind(const void* handle, size_t bytes, const OperandPosition& operand, Bound& out) {
  ANYNPU_ASSIGN(auto pin, resolve<DataBuffer>(to_handle(handle)), "{} {} of {}", operand.side(),
                operand.index, operand.op);
  const DataBuffer data = *pin;
  if (data.size < bytes) {
    return fail(
        Code::shape_mismatch,
        "{} {} of {} has a buffer of {} bytes, its description needs {}; allocate that many",
        operand.side(), operand.index, operand.op, data.size, bytes);
  }
  out = {};
  if (bytes == 0) return {};
  const device::Access access = operand.input ? device::Access::read : device::Access::write;
  ANYNPU_ASSIGN(auto range, device::check_range(data.data, bytes, access, operand.side()),
                "{} {} of {}", operand.side(), operand.index, operand.op);
  out.buffer = {range.address, bytes};
  out.owner = std::move(range.owner);
  return {};
}

// Inputs whose memory an output is written to, before the last step has read them: the run reads
// copies.
class WrittenInputs {
 public:
  explicit WrittenInputs(device::Stream& stream) : stream_(stream) {}
  ~WrittenInputs() {
    if (stream_.queue().idle()) return;
    for (auto& copy : copies_) stream_.queue().keep(std::move(copy));
  }

  Status replace(std::span<exec::Buffer> inputs, std::span<const exec::Buffer> outputs) {
    for (exec::Buffer& input : inputs) {
      const bool written = std::ranges::any_of(
          outputs, [&](const exec::Buffer& output) { return overlap(input, output); });
      if (written) ANYNPU_TRY(copy(input));
    }
    return {};
  }

 private:
  static bool overlap(const exec::Buffer& a, const exec::Buffer& b) {
    const auto* first = static_cast<const std::byte*>(a.data);
    const auto* second = static_cast<const std::byte*>(b.data);
    return first < second + b.bytes && second < first + a.bytes;
  }

  Status copy(exec::Buffer& input) {
    ANYNPU_ASSIGN(auto memory, exec::Memory::allocate_on(*stream_.device(), input.bytes));
    auto kept = std::make_shared<exec::Memory>(std::move(memory));
    const device::CopyRows whole{.to = kept->data(), .from = input.data, .width = input.bytes};
    ANYNPU_TRY(stream_.queue().copy(whole));
    input.data = kept->data();
    copies_.push_back(std::move(kept));
    return {};
  }

  device::Stream& stream_;
  std::vector<std::shared_ptr<exec::Memory>> copies_;
};

// A run with few tensors fits a slot of the stream's queue; others are kept on the heap.
template <size_t most>
struct Call {
  std::shared_ptr<OpHandle> handle;
  std::array<std::shared_ptr<device::Allocation>, most> owners;
  std::array<void*, most> data;
  uint32_t inputs = 0, count = 0;

  Status run(device::Stream& stream) const {
    exec::Buffer buffers[most];
    const auto& in = handle->plan->inputs();
    const auto& out = handle->plan->outputs();
    for (uint32_t i = 0; i < count; ++i) {
      buffers[i] = {data[i], i < inputs ? in[i].bytes : out[i - inputs].bytes};
    }
    const std::span<exec::Buffer> fed{buffers, inputs}, made{buffers + inputs, count - inputs};
    WrittenInputs copies(stream);
    if (handle->writes_inputs) ANYNPU_TRY(copies.replace(fed, made));
    return handle->plan->run(fed, made, nullptr, {}, &stream.queue());
  }
};

struct TensorCounts {
  size_t inputs, outputs;
};

Status check_counts(const std::string& type, const TensorCounts& has, const OpBuffers& buffers) {
  ANYNPU_TRY(check_array(buffers.inputs, buffers.input, "inputs"));
  ANYNPU_TRY(check_array(buffers.outputs, buffers.output, "outputs"));
  if (static_cast<size_t>(buffers.inputs) != has.inputs) {
    return fail(Code::op_input_mismatch,
                "{} input buffers are given, the operator {} has {} inputs; pass one for each",
                buffers.inputs, type, has.inputs);
  }
  if (static_cast<size_t>(buffers.outputs) != has.outputs) {
    return fail(Code::op_output_mismatch,
                "{} output buffers are given, the operator {} has {} outputs; pass one for each",
                buffers.outputs, type, has.outputs);
  }
  return {};
}

// Status of a buffer as the failure of its side when it is a matter of size.
Status side_failure(const Status& status, bool input) {
  if (status.code() == Code::output_mismatch) return status.with_code(Code::op_output_mismatch);
  if (status.code() != Code::shape_mismatch) return status;
  return status.with_code(input ? Code::op_input_mismatch : Code::op_output_mismatch);
}

template <typename Visit>
Status bind_all(const OpHandle& handle, const OpBuffers& buffers, Visit&& visit) {
  const singleop::SingleOp& op = handle.model->op();
  const auto& fed = handle.model->fed_inputs();
  for (size_t i = 0; i < fed.size(); ++i) {
    const size_t bytes = handle.plan
                             ? handle.plan->inputs()[i].bytes
                             : bytes_of(op.inputs[fed[i]].dtype,
                                        static_cast<size_t>(element_count(handle.shapes[i])));
    Bound bound;
    Status status = bind(buffers.input[fed[i]], bytes, {op.type, true, fed[i]}, bound);
    if (!status.ok()) return side_failure(status, true);
    visit(std::move(bound));
  }
  size_t made = 0;
  for (size_t o = 0; o < handle.outputs; ++o) {
    if (!op.has_output(o)) continue;
    const size_t bytes = handle.plan ? handle.plan->outputs()[made++].bytes : 0;
    Bound bound;
    const OperandPosition operand{op.type, false, o};
    Status status = bind(buffers.output[o], bytes, operand, bound);
    if (status.ok() && !handle.plan) {
      // How much comes out is not known: all of the buffer may be written.
      const size_t room = (*resolve<DataBuffer>(to_handle(buffers.output[o])))->size;
      status = bind(buffers.output[o], room, operand, bound);
    }
    if (!status.ok()) return side_failure(status, false);
    visit(std::move(bound));
  }
  return {};
}

// Plans the operator for a device; null: for the CPU.
Status plan_on(const std::shared_ptr<device::Device>& device, OpHandle& handle) {
  handle.device = device.get();
  if (handle.model->sized_by_values()) return {};
  ANYNPU_ASSIGN(handle.plan, handle.model->plan_for(handle.shapes, device));
  return {};
}

Status run_by_values(const OpHandle& handle, const OpBuffers& buffers, device::Stream& stream,
                     std::vector<Shape>* shapes) {
  std::vector<exec::Buffer> all;
  std::vector<std::shared_ptr<device::Allocation>> owners;
  Status failure = bind_all(handle, buffers, [&](Bound bound) {
    all.push_back(bound.buffer);
    owners.push_back(std::move(bound.owner));
  });
  if (!failure.ok()) return failure;
  ANYNPU_TRY(stream.synchronize());
  const size_t inputs = handle.model->fed_inputs().size();
  std::vector<Shape> made;
  Status status = handle.model->run_values({all.data(), inputs}, handle.shapes,
                                           {all.data() + inputs, all.size() - inputs}, made);
  if (!status.ok()) return side_failure(status, false);
  if (shapes) *shapes = std::move(made);
  return {};
}

template <size_t most>
Status queue(const std::shared_ptr<OpHandle>& handle, const OpBuffers& buffers,
             device::Stream& stream) {
  Call<most> call;
  call.handle = handle;
  call.inputs = static_cast<uint32_t>(handle->model->fed_inputs().size());
  Status failure = bind_all(*handle, buffers, [&](Bound bound) {
    call.data[call.count] = bound.buffer.data;
    call.owners[call.count++] = std::move(bound.owner);
  });
  if (!failure.ok()) return failure;
  const bool only_submits = handle->plan && handle->plan->only_enqueues();
  device::TaskKind& kind = only_submits ? queued_operator_task : operator_task;
  if constexpr (most <= 4) {
    return stream.submit(kind, [call = std::move(call)](device::TaskRun& run) {
      return run.done(queued_by(kOperatorCall, call.run(run.stream())));
    });
  } else {
    auto kept = std::make_unique<Call<most>>(std::move(call));
    return stream.submit(kind, [kept = std::move(kept)](device::TaskRun& run) {
      return run.done(queued_by(kOperatorCall, kept->run(run.stream())));
    });
  }
}

}  // namespace

Status op_failure(const Status& status) { return side_failure(status, true); }

Result<singleop::SingleOp> read_op(const OpArguments& arguments) {
  ANYNPU_TRY(check_pointer(arguments.type, "opType"));
  singleop::SingleOp op;
  op.type = arguments.type;
  // MindSpore brings AI CPU kernels of its own, as CustX; what X does is known here.
  const bool own =
      op.type.starts_with("Cust") && singleop::find_vendor_op(op.type.substr(4)) != nullptr;
  if (own) op.type.erase(0, 4);
  if (op.type.empty()) {
    return fail(Code::invalid_argument, "opType is empty; expected the name of an operator");
  }
  ANYNPU_ASSIGN(op.inputs, read_descs(arguments.inputs, arguments.input_desc, "inputDesc"));
  ANYNPU_ASSIGN(op.outputs, read_descs(arguments.outputs, arguments.output_desc, "outputDesc"));
  if (arguments.attr) {
    ANYNPU_ASSIGN(auto pin, resolve<OpAttr>(to_handle(arguments.attr)));
    op.attrs = pin->values;
  }
  return op;
}

Result<std::shared_ptr<OpHandle>> prepare_op(const singleop::SingleOp& op,
                                             std::shared_ptr<exec::OpModel> model) {
  const auto context = device::Runtime::instance().current();
  return prepare_op(op, std::move(model), context.ok() ? (*context)->device() : nullptr);
}

Result<std::shared_ptr<OpHandle>> prepare_op(const singleop::SingleOp& op,
                                             std::shared_ptr<exec::OpModel> model,
                                             const std::shared_ptr<device::Device>& device) {
  auto handle = std::make_shared<OpHandle>();
  handle->inputs = op.inputs.size();
  handle->outputs = op.outputs.size();
  for (size_t i : model->fed_inputs()) {
    const TensorDesc& desc = op.inputs[i];
    const bool stored = desc.storage_format != Format::undefined && !desc.storage_shape.empty();
    handle->shapes.push_back(stored ? desc.storage_shape : desc.shape);
    if (!is_static(handle->shapes.back())) {
      return fail(Code::invalid_argument,
                  "input {} of {} is described as {}; a run needs every extent", i, op.type,
                  to_string(desc.shape));
    }
  }
  handle->model = std::move(model);
  ANYNPU_TRY(plan_on(device, *handle));
  // One step reads each element before it writes it.
  const singleop::VendorOp* row = singleop::find_vendor_op(op.type);
  const bool on_host = !device || exec::plan_owner(*device) == nullptr;
  handle->writes_inputs = row && !row->writes.empty() && handle->plan &&
                          handle->plan->steps().size() > 1 &&
                          !(on_host && handle->model->works_in_place());
  return handle;
}

Status submit_op(std::shared_ptr<OpHandle> handle, const OpBuffers& buffers, Handle stream_handle,
                 std::vector<Shape>* shapes) {
  ANYNPU_TRY(check_counts(handle->model->op().type, {handle->inputs, handle->outputs}, buffers));
  auto stream = device::Runtime::instance().stream(stream_handle);
  if (!stream.ok()) return stream.status();
  if (handle->device != (*stream)->device().get()) [[unlikely]] {
    handle = std::make_shared<OpHandle>(*handle);  // the program's own stays as it is
    ANYNPU_TRY(plan_on((*stream)->device(), *handle));
  }
  if (records_ops()) record_op(*handle);
  if (handle->model->sized_by_values()) return run_by_values(*handle, buffers, **stream, shapes);
  if (shapes) {
    for (const exec::TensorInfo& info : handle->plan->outputs()) shapes->push_back(info.shape);
  }
  const size_t tensors = handle->plan->inputs().size() + handle->plan->outputs().size();
  if (tensors <= 4) return queue<4>(handle, buffers, **stream);
  if (tensors <= 64) return queue<64>(handle, buffers, **stream);
  return fail(Code::limit_exceeded, "the operator {} has {} tensors; expected at most 64",
              handle->model->op().type, tensors);
}

namespace {

std::vector<exec::StepTensor> step_tensors(const std::vector<TensorDesc>& descs,
                                           std::span<const exec::Buffer> buffers) {
  std::vector<exec::StepTensor> list;
  for (size_t i = 0; i < descs.size(); ++i) {
    list.push_back({descs[i].dtype, descs[i].shape, ops::Layout::plain,
                    static_cast<const std::byte*>(buffers[i].data)});
  }
  return list;
}

struct CustomCall {
  exec::CustomOps::Ready ready;
  singleop::SingleOp op;
  std::vector<exec::Buffer> inputs, outputs;
  std::vector<std::shared_ptr<device::Allocation>> owners;
  int32_t device = 0;
  std::shared_ptr<exec::StepObserver> observer;  // may be null

  Status run_launch(std::span<const exec::Buffer> in, std::span<const exec::Buffer> out) {
    exec::KernelLaunch launch = exec::launch_of(*ready.choice, in, out);
    return run_kernel(*ready.kernel, launch, device);
  }

  Status run_observed() {
    if (!observer || !observer->wants(op.type, op.type)) return run_launch(inputs, outputs);
    return exec::HostBuffers(inputs, outputs).run([&](auto seen_in, auto seen_out) {
      const auto in = step_tensors(op.inputs, seen_in), out = step_tensors(op.outputs, seen_out);
      observer->begin();
      return exec::observed(*observer, {0, op.type, op.type, in, out},
                            [&] { return run_launch(seen_in, seen_out); });
    });
  }

  Status run() {
    Status status = run_observed();
    if (status.ok()) return status;
    OpInfo failed{op.type, op.inputs, op.outputs};
    for (size_t i = 0; i < inputs.size(); ++i) failed.inputs[i].address = inputs[i].data;
    for (size_t o = 0; o < outputs.size(); ++o) failed.outputs[o].address = outputs[o].data;
    FailedOps::instance().note(std::move(failed));
    return status;
  }
};

}  // namespace

// An operator of the program's own: the kernel that its selector chose.
Status execute_custom(const singleop::SingleOp& op, const OpBuffers& buffers,
                      Handle stream_handle) {
  auto ready = exec::CustomOps::instance().find(op.type, singleop::key_of(op));
  if (!ready.ok()) return ready.status();
  auto stream = device::Runtime::instance().stream(stream_handle);
  if (!stream.ok()) return stream.status();
  ANYNPU_TRY(check_counts(op.type, {op.inputs.size(), op.outputs.size()}, buffers));
  if (records_ops()) record_op(op);
  auto call = std::make_unique<CustomCall>();
  call->ready = std::move(*ready);
  call->op = op;
  call->device = (*stream)->device()->id();
  call->observer = observer_for_operators(call->device);
  for (size_t i = 0; i < op.inputs.size() + op.outputs.size(); ++i) {
    const bool input = i < op.inputs.size();
    const size_t index = input ? i : i - op.inputs.size();
    const TensorDesc& desc = input ? op.inputs[index] : op.outputs[index];
    Bound bound;
    Status status = bind(input ? buffers.input[index] : buffers.output[index], desc.byte_count(),
                         {op.type, input, index}, bound);
    if (!status.ok()) return side_failure(status, input);
    (input ? call->inputs : call->outputs).push_back(bound.buffer);
    call->owners.push_back(std::move(bound.owner));
  }
  return (*stream)->submit(custom_kernel_task, [call = std::move(call)] {
    return queued_by(kOperatorCall, call->run());
  });
}

namespace {

// Inputs that the operator writes and that the description does not name as outputs become outputs
// in the same memory. `made` keeps the list of buffers.
OpBuffers with_written_inputs(singleop::SingleOp& op, const OpBuffers& buffers,
                              std::vector<const void*>& made) {
  const singleop::VendorOp* row = singleop::find_vendor_op(op.type);
  const bool described = static_cast<size_t>(buffers.inputs) == op.inputs.size() &&
                         static_cast<size_t>(buffers.outputs) == op.outputs.size();
  if (!row || !described || row->writes.size() <= op.outputs.size()) return buffers;
  made.assign(buffers.output, buffers.output + buffers.outputs);
  for (const char digit : row->writes.substr(op.outputs.size())) {
    const auto input = static_cast<size_t>(digit - '0');
    if (!op.has_input(input)) break;
    op.outputs.push_back(op.inputs[input]);
    made.push_back(buffers.input[input]);
  }
  OpBuffers all = buffers;
  all.output = made.data();
  all.outputs = static_cast<int>(made.size());
  return all;
}

}  // namespace

Status execute_op(const OpArguments& arguments, const OpBuffers& given, Missing missing,
                  Handle stream) {
  ANYNPU_ASSIGN(const auto used, device::Runtime::instance().stream(stream));
  auto op = read_op(arguments);
  if (!op.ok()) return op.status();
  if (exec::CustomOps::instance().has_type(op->type)) return execute_custom(*op, given, stream);
  ANYNPU_TRY(check_array(given.inputs, given.input, "inputs"));
  ANYNPU_TRY(check_array(given.outputs, given.output, "outputs"));
  ANYNPU_TRY(take_host_values(given, *op));
  std::vector<const void*> made_buffers;  // models of files have the outputs of their description
  const OpBuffers buffers =
      missing == Missing::compile ? with_written_inputs(*op, given, made_buffers) : given;
  auto& models = exec::OpModels::instance();
  prepare_op_models();
  auto model = missing == Missing::compile ? models.find_or_compile(*op) : models.find(*op);
  if (!model.ok()) return op_failure(model.status());
  auto handle = prepare_op(*op, std::move(*model), used->device());
  if (!handle.ok()) return op_failure(handle.status());
  std::vector<Shape> shapes;
  if (Status failure = submit_op(*handle, buffers, stream, &shapes); !failure.ok()) return failure;
  size_t made = 0;
  for (int o = 0; o < arguments.outputs && made < shapes.size(); ++o) {
    if (!(*handle)->model->op().has_output(static_cast<size_t>(o))) continue;
    const Shape& shape = shapes[made++];
    auto desc = resolve<TensorDesc>(to_handle(arguments.output_desc[o]));
    if (desc.ok() && (*desc)->storage_format == Format::undefined) (*desc)->shape = shape;
  }
  return {};
}

void prepare_op_models() {
  on_finalize([] { exec::OpModels::instance().clear(); });
  // They are planned for the device in use, and the dump that is on then watches them.
  exec::OpModels::instance().set_options_source([] {
    const auto context = device::Runtime::instance().current();
    exec::LoadOptions options;
    if (context.ok()) options.run_on((*context)->device());
    options.observer = observer_for_operators(context.ok() ? (*context)->device()->id() : 0);
    return options;
  });
}

}  // namespace anynpu::service
