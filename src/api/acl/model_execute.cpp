// SPDX-License-Identifier: Apache-2.0
// Execution of loaded models: synchronous in the calling thread, asynchronous as a task of a
// stream. The addresses in the datasets are read when the call is made, as documented.
#include <algorithm>

#include "acl/mdl/execute.h"
#include "api/acl/entry.h"
#include "api/acl/model_objects.h"
#include "api/acl/model_table.h"
#include "base/spare_pool.h"
#include "device/runtime.h"
#include "tensor/data_buffer.h"

namespace anynpu::acl {

namespace {

constinit device::TaskKind kExecute{"model execution", device::Engine::compute};
constinit device::TaskKind kExecuteLoops{"model execution", device::Engine::compute, true};

// The addresses of one execution, with references that keep the memory from being given away.
struct Binding {
  std::shared_ptr<Model> model;
  std::vector<exec::Buffer> inputs;
  std::vector<exec::Buffer> outputs;
  std::vector<std::shared_ptr<device::Allocation>> owners;
  exec::LoadedModel* plan = nullptr;        // of the gear or the shapes of this execution
  std::shared_ptr<exec::LoadedModel> kept;  // a plan that others may replace meanwhile
  std::shared_ptr<Dataset> results;         // set where the run tells shapes: described afterwards
  exec::Buffer work;                        // of this execution alone; null: the model's
  std::vector<Shape> input_shapes;          // of a model with ranges
  std::vector<Shape> output_shapes;         // where the run tells them

  Status run() {
    std::unique_lock<std::mutex> turn;
    if (model->shaped->shares_work() && !work.data)
      turn = std::unique_lock(model->shaped->work_turn());
    Status status = plan->run(inputs, outputs, results ? &output_shapes : nullptr, work);
    if (!status.ok()) [[unlikely]]
      note_failed_op(model->ops);
    // Also when a buffer was too small: the description says what to allocate.
    if (results && (status.ok() || status.code() == Code::output_mismatch)) describe_outputs();
    return status;
  }

  // Lets go of everything but the room of its lists.
  void clear() {
    model.reset();
    kept.reset();
    results.reset();
    work = {};
    inputs.clear();
    outputs.clear();
    owners.clear();
  }

  // What the outputs really are, for aclmdlGetDatasetTensorDesc.
  void describe_outputs() const {
    for (size_t i = 0; i < output_shapes.size(); ++i) {
      results->describe_found(i, model->meta->outputs[i], plan->outputs()[i].dtype,
                              output_shapes[i]);
    }
  }
};

// Bindings of asynchronous executions are used again, so that queueing one allocates nothing. Never
// destroyed: streams may end after this file's objects.
SparePool<Binding>& spare_bindings() {
  static auto* pool = new SparePool<Binding>;
  return *pool;
}
struct GiveBack {
  void operator()(Binding* binding) const {
    binding->clear();
    spare_bindings().give(std::unique_ptr<Binding>(binding));
  }
};
using PooledBinding = std::unique_ptr<Binding, GiveBack>;

Code mismatch(TensorSide side) {
  return side == TensorSide::input ? Code::shape_mismatch : Code::output_mismatch;
}

// What one buffer of an execution must hold.
struct Need {
  const std::string& name;
  size_t bytes;
  DType dtype;
  const Shape& shape;
  bool open = false;  // the run tells how many bytes: the whole buffer may be used
};

// The buffer of one tensor; fails when it is gone or too small.
Result<DataBuffer> find_buffer(Handle handle, const Need& need, TensorSide side, size_t index) {
  auto buffer = resolve<DataBuffer>(handle);
  const char* what = name_of(side);
  if (!buffer.ok()) {
    return buffer.status().with_note(
        format("in {} {} ('{}') of the dataset", what, index, need.name));
  }
  const DataBuffer data = **buffer;
  if (data.size >= need.bytes) return data;
  return fail(mismatch(side),
              "{} {} ('{}') has a buffer of {} bytes, the model needs {} ({} {}); allocate what "
              "the description says",
              what, index, need.name, data.size, need.bytes, anynpu::name_of(need.dtype),
              to_string(need.shape));
}

// Checks one buffer against what the plan needs; null for an empty tensor.
Failure bind_buffer(Handle handle, const Need& need, TensorSide side, size_t index,
                    Binding& binding, exec::Buffer& bound) {
  const auto data = find_buffer(handle, need, side, index);
  if (!data.ok()) return data.status();
  bound = {};
  const size_t bytes = need.open ? data->size : need.bytes;
  if (bytes == 0) return {};
  const char* what = name_of(side);
  const auto access = side == TensorSide::input ? device::Access::read : device::Access::write;
  auto range = device::check_range(data->data, bytes, access, what);
  if (!range.ok()) {
    return range.status().with_note(
        format("in {} {} ('{}') of the dataset", what, index, need.name));
  }
  bound = {range->address, bytes};
  if (range->owner) binding.owners.push_back(std::move(range->owner));
  return {};
}

Status check_count(const Dataset& dataset, TensorSide side, const om::Meta& meta) {
  const size_t count = dataset.read()->buffers.size(), expected = tensors_of(meta, side).size();
  if (count == expected) return {};
  const char* what = name_of(side);
  return fail(mismatch(side),
              "the {} dataset has {} buffers, the model '{}' has {} {}s; add one buffer for "
              "each, in order of their index",
              what, count, meta.name, expected, what);
}

Failure bind_dataset(const Dataset& dataset, TensorSide side, Binding& binding) {
  const auto contents = dataset.read();
  const om::Meta& meta = *binding.model->meta;
  const auto& infos = tensors_of(meta, side);
  const auto& planned =
      side == TensorSide::input ? binding.plan->inputs() : binding.plan->outputs();
  for (size_t i = 0; i < infos.size(); ++i) {
    // The input that a gear is written to is not one of the plan.
    const bool extra = i >= planned.size();
    const Need need{infos[i].name, extra ? size_t{infos[i].size} : planned[i].bytes, infos[i].dtype,
                    extra ? infos[i].shape : planned[i].shape, !extra && planned[i].open};
    exec::Buffer bound;
    if (Failure failure = bind_buffer(contents->at(i), need, side, i, binding, bound);
        !failure.ok())
      return failure;
    if (extra) continue;
    (side == TensorSide::input ? binding.inputs : binding.outputs).push_back(bound);
  }
  return {};
}

// Before a plan is made for shapes, which takes time and memory: their buffers must hold them.
// Those of pictures have other sizes than their shape says.
Status check_room(const Dataset::Contents& contents, const om::Meta& meta,
                  std::span<const Shape> shapes) {
  constexpr auto kMost = static_cast<int64_t>(SIZE_MAX / 64);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool picture = std::any_of(meta.aipp.begin(), meta.aipp.end(),
                                     [&](const om::Aipp& one) { return one.input == i; });
    if (picture) continue;
    const om::TensorInfo& info = meta.inputs[i];
    const int64_t count = std::min(element_count(shapes[i]), kMost);
    const Need need{info.name, bytes_of(info.dtype, static_cast<size_t>(count)), info.dtype,
                    shapes[i]};
    ANYNPU_TRY(find_buffer(contents.at(i), need, TensorSide::input, i).status());
  }
  return {};
}

// The shapes of the data inputs of a model with ranges, as aclmdlSetDatasetTensorDesc left them.
// Inputs with dynamic AIPP have the shape that its parameters make.
Status choose_shapes(uint32_t id, const Dataset& dataset, Binding& binding) {
  const auto contents = dataset.read();
  const om::Meta& meta = *binding.model->meta;
  size_t data = 0;
  while (data < meta.inputs.size() && meta.inputs[data].role == om::Role::data) ++data;
  std::vector<Shape>& shapes = binding.input_shapes;
  shapes.resize(data);
  for (size_t i = 0; i < data; ++i) {
    const om::TensorInfo& info = meta.inputs[i];
    const auto aipp = std::find_if(meta.aipp.begin(), meta.aipp.end(), [&](const om::Aipp& one) {
      return one.dynamic && one.input == i;
    });
    if (aipp != meta.aipp.end()) {
      const auto which = static_cast<size_t>(aipp - meta.aipp.begin());
      if (const auto* made = contents->picture(id, data + which)) shapes[i] = made->picture;
      continue;
    }
    const Dataset::Described* const set = contents->desc(i);
    if (!set && !is_static(info.shape)) {
      return fail(Code::bad_call_order,
                  "input {} ('{}') has the shape {}, which comes at run time; call "
                  "aclmdlSetDatasetTensorDesc with the shape of this execution first",
                  i, info.name, to_string(info.shape));
    }
    shapes[i] = set ? set->desc->shape : info.shape;
  }
  ANYNPU_TRY(binding.model->shaped->check_shapes(shapes));
  return check_room(*contents, meta, shapes);
}

// The plan for the shapes of this execution; a new one is made while nothing is being read.
Failure choose_shaped_plan(uint32_t id, const Dataset& dataset, Binding& binding) {
  if (Status status = choose_shapes(id, dataset, binding); !status.ok()) return status;
  auto plan = binding.model->shaped->for_shapes(binding.input_shapes);
  if (!plan.ok()) return plan.status();
  binding.kept = std::move(*plan);
  binding.plan = binding.kept.get();
  return {};
}

// Dynamic AIPP has no defaults: the parameters must have been set with this dataset.
Failure check_aipp_set(uint32_t id, const Dataset& dataset, const om::Meta& meta) {
  const auto contents = dataset.read();
  for (size_t i = 0; i < meta.inputs.size(); ++i) {
    if (meta.inputs[i].role != om::Role::aipp || contents->picture(id, i)) continue;
    return {ACL_ERROR_GE_AIPP_NOT_EXIST,
            fail(Code::bad_call_order,
                 "input {} ('{}') of the model '{}' has no parameters; call aclmdlSetInputAIPP or "
                 "aclmdlSetAIPPByInputIndex with this dataset first",
                 i, meta.inputs[i].name, meta.name)};
  }
  return {};
}

// The plan of this execution: the gear that was set, the shapes that were set, or the only one.
Failure choose_plan(uint32_t id, const Dataset& dataset, Binding& binding) {
  exec::ShapedModel& shaped = *binding.model->shaped;
  const om::Meta& meta = *binding.model->meta;
  if (!meta.aipp.empty()) {
    if (Failure failure = check_aipp_set(id, dataset, meta); !failure.ok()) return failure;
  }
  if (shaped.has_ranges()) return choose_shaped_plan(id, dataset, binding);
  if (!meta.has_gears()) {
    binding.plan = &shaped.gear(0);
    return {};
  }
  const auto contents = dataset.read();
  if (!contents->descs.empty()) {
    return fail(Code::invalid_argument,
                "the model '{}' has gears and its dataset tensor descriptions; only one of "
                "aclmdlSetDynamicBatchSize, aclmdlSetDynamicHWSize, aclmdlSetInputDynamicDims and "
                "aclmdlSetDatasetTensorDesc may be used with one model",
                meta.name);
  }
  const Dataset::Choice* const chosen = contents->gear(id);
  binding.plan = &shaped.gear(chosen ? chosen->value : shaped.largest_gear());
  return {};
}

Failure bind(uint32_t id, const aclmdlDataset* input, const aclmdlDataset* output,
             const device::Device& device, Binding& binding) {
  auto model = ModelTable::instance().find(id);
  if (!model.ok()) return model.status();
  binding.model = model->share();
  if (binding.model->device_id != device.id()) {
    return fail(Code::wrong_context,
                "model {} was loaded on device {}, the current context or stream is of device {}; "
                "execute it where it was loaded",
                id, binding.model->device_id, device.id());
  }
  auto in = resolve<Dataset>(to_handle(input));
  if (!in.ok()) return in.status();
  auto out = resolve<Dataset>(to_handle(output));
  if (!out.ok()) return out.status();
  const om::Meta& meta = *binding.model->meta;
  if (Status status = check_count(**in, TensorSide::input, meta); !status.ok()) return status;
  if (Status status = check_count(**out, TensorSide::output, meta); !status.ok()) return status;
  if (Failure failure = choose_plan(id, **in, binding); !failure.ok()) return failure;
  if (Failure failure = bind_dataset(**in, TensorSide::input, binding); !failure.ok())
    return failure;
  if (Failure failure = bind_dataset(**out, TensorSide::output, binding); !failure.ok())
    return failure;
  const auto& outputs = binding.plan->outputs();
  const bool told =
      meta.has_ranges() || std::any_of(outputs.begin(), outputs.end(),
                                       [](const exec::TensorInfo& info) { return info.open; });
  binding.results = told ? out->share() : nullptr;
  return {};
}

// What the program chose for one execution, read when the call is made.
struct Options {
  int32_t timeout_ms = -1;
  exec::Buffer work;
};

Result<Options> read_options(const aclmdlExecConfigHandle* handle) {
  if (!handle) return Options{};
  ANYNPU_ASSIGN(auto config, resolve<ExecConfig>(to_handle(handle)));
  const Options options{config->stream_timeout_ms, {config->work, config->work_size}};
  if (!options.work.data && options.work.bytes > 0) {
    return fail(Code::invalid_argument,
                "the execution has work memory of {} bytes at no address; set "
                "ACL_MDL_WORK_ADDR_PTR (2) too",
                options.work.bytes);
  }
  return options;
}

Status bind_work(exec::Buffer work, Binding& binding) {
  if (!work.data) return {};
  ANYNPU_TRY(binding.plan->check_work(work), "in the configuration of the execution");
  ANYNPU_ASSIGN(auto range, device::check_range(work.data, work.bytes, device::Access::write,
                                                "ACL_MDL_WORK_ADDR_PTR"));
  binding.work = {range.address, work.bytes};
  if (range.owner) binding.owners.push_back(std::move(range.owner));
  return {};
}

// A synchronous execution stands in no queue: its failure is reported as if it had been the next
// task of the default stream.
void report(const device::Context& context, const Status& status) {
  const device::Stream& stream = *context.default_stream();
  device::report_failure({context.device()->id(), stream.id(),
                          static_cast<uint32_t>(stream.submitted() + 1),
                          device::current_thread_number(), kExecute.text, status});
}

// An execution in the calling thread is a task of the default stream to a profile; its number is
// that of the call.
Failure run_traced(uint32_t id, Binding& binding, const device::Context& context) {
  const uint64_t begin = trace::enabled(trace::Category::task) ? ticks() : 0;
  const Status status = binding.run();
  if (begin) [[unlikely]] {
    const uint32_t call = trace::current_correlation();
    trace::slice(
        trace::Category::task, kExecute.name.id(), begin, ticks(), call, id,
        {context.default_stream()->id() | uint64_t{call} << 32, 0,
         static_cast<uint32_t>(context.device()->id()), static_cast<uint32_t>(kExecute.engine)});
  }
  if (!status.ok()) [[unlikely]]
    report(context, status);
  return status;
}

Failure execute(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output) {
  auto context = device::Runtime::instance().current();
  if (!context.ok()) return context.status();
  // Kept per thread, so that repeated executions allocate nothing here.
  static thread_local Binding binding;
  Failure failure = bind(id, input, output, *(*context)->device(), binding);
  if (failure.ok()) failure = run_traced(id, binding, **context);
  binding.clear();
  return failure;
}

Failure enqueue(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output,
                const std::shared_ptr<device::Stream>& stream, exec::Buffer work) {
  PooledBinding binding(spare_bindings().take().release());
  if (!binding) binding.reset(new Binding);
  Failure failure = bind(id, input, output, *stream->device(), *binding);
  if (failure.ok()) failure = bind_work(work, *binding);
  if (!failure.ok()) return failure;
  device::TaskKind& kind = binding->plan->has_loops() ? kExecuteLoops : kExecute;
  return stream->submit({kind, id}, [binding = std::move(binding)] { return binding->run(); });
}

Failure enqueue_on(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output, Handle handle,
                   const aclmdlExecConfigHandle* config = nullptr) {
  const auto options = read_options(config);
  if (!options.ok()) return options.status();
  auto stream = device::Runtime::instance().stream(handle);
  if (!stream.ok()) return stream.status();
  return enqueue(id, input, output, *stream, options->work);
}

// With options: on the stream, and waited for at most as long as they say.
Failure execute_v2(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output, Handle handle,
                   const aclmdlExecConfigHandle* config) {
  const auto options = read_options(config);
  if (!options.ok()) return options.status();
  auto stream = device::Runtime::instance().stream(handle);
  if (!stream.ok()) return stream.status();
  Failure failure = enqueue(id, input, output, *stream, options->work);
  if (!failure.ok()) return failure;
  return (*stream)->synchronize(options->timeout_ms < 0 ? Deadline::never()
                                                        : Deadline::after_ms(options->timeout_ms));
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output) {
  return enter(__func__, [&] { return execute(modelId, input, output); });
}

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                         aclrtStream stream, const aclmdlExecConfigHandle* handle) {
  return enter(__func__,
               [&] { return execute_v2(modelId, input, output, to_handle(stream), handle); });
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                            aclrtStream stream) {
  return enter(__func__, [&] { return enqueue_on(modelId, input, output, to_handle(stream)); });
}

aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                              aclrtStream stream, const aclmdlExecConfigHandle* handle) {
  return enter(__func__,
               [&] { return enqueue_on(modelId, input, output, to_handle(stream), handle); });
}

}  // extern "C"
