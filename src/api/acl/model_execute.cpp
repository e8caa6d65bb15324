// SPDX-License-Identifier: Apache-2.0
// Execution of loaded models: synchronous in the calling thread, asynchronous as a task of a
// stream. The addresses in the datasets are read when the call is made, as documented.
#include "acl/mdl/execute.h"
#include "api/acl/entry.h"
#include "api/acl/model_objects.h"
#include "api/acl/model_table.h"
#include "device/runtime.h"
#include "tensor/data_buffer.h"

namespace anynpu::acl {

namespace {

constinit device::TaskKind kExecute{"model execution", device::Engine::compute};

// The addresses of one execution, with references that keep the memory from being given away.
struct Binding {
  std::shared_ptr<Model> model;
  std::vector<exec::Buffer> inputs;
  std::vector<exec::Buffer> outputs;
  std::vector<std::shared_ptr<device::Allocation>> owners;

  Status run() { return model->runner->run(inputs, outputs); }
};

Failure mismatch(TensorSide side, Status status) {
  if (side == TensorSide::input) return {ACL_ERROR_MODEL_INPUT_NOT_MATCH, std::move(status)};
  return {ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, std::move(status)};
}

// Checks one buffer against the model's description; null for an empty tensor.
Failure bind_buffer(Handle handle, const om::TensorInfo& info, TensorSide side, size_t index,
                    Binding& binding, exec::Buffer& bound) {
  auto buffer = resolve<DataBuffer>(handle);
  const char* what = name_of(side);
  if (!buffer.ok()) {
    return buffer.status().with_note(
        format("in {} {} ('{}') of the dataset", what, index, info.name));
  }
  const DataBuffer data = **buffer;
  if (data.size < info.size) {
    return mismatch(side, fail(Code::shape_mismatch,
                               "{} {} ('{}') has a buffer of {} bytes, the model needs {} ({} {}); "
                               "allocate what the description says",
                               what, index, info.name, data.size, info.size,
                               anynpu::name_of(info.dtype), to_string(info.shape)));
  }
  bound = {};
  if (info.size == 0) return {};
  const auto access = side == TensorSide::input ? device::Access::read : device::Access::write;
  auto range = device::check_range(data.data, info.size, access, what);
  if (!range.ok()) {
    return range.status().with_note(
        format("in {} {} ('{}') of the dataset", what, index, info.name));
  }
  bound = {range->address, info.size};
  if (range->owner) binding.owners.push_back(std::move(range->owner));
  return {};
}

Failure bind_dataset(const aclmdlDataset* handle, TensorSide side, Binding& binding) {
  auto dataset = resolve<Dataset>(to_handle(handle));
  if (!dataset.ok()) return dataset.status();
  const om::Meta& meta = *binding.model->meta;
  const auto& infos = tensors_of(meta, side);
  const size_t count = (*dataset)->size();
  if (count != infos.size()) {
    const char* what = name_of(side);
    return mismatch(side, fail(Code::shape_mismatch,
                               "the {} dataset has {} buffers, the model '{}' has {} {}s; add one "
                               "buffer for each, in order of their index",
                               what, count, meta.name, infos.size(), what));
  }
  for (size_t i = 0; i < count; ++i) {
    exec::Buffer bound;
    if (Failure failure = bind_buffer((*dataset)->at(i), infos[i], side, i, binding, bound);
        !failure.ok()) {
      return failure;
    }
    (side == TensorSide::input ? binding.inputs : binding.outputs).push_back(bound);
  }
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
  binding.inputs.clear();
  binding.outputs.clear();
  binding.owners.clear();
  if (Failure failure = bind_dataset(input, TensorSide::input, binding); !failure.ok())
    return failure;
  return bind_dataset(output, TensorSide::output, binding);
}

Failure execute(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output) {
  auto context = device::Runtime::instance().current();
  if (!context.ok()) return context.status();
  // Kept per thread, so that repeated executions allocate nothing here.
  static thread_local Binding binding;
  Failure failure = bind(id, input, output, *(*context)->device(), binding);
  if (failure.ok()) failure = binding.run();
  binding.model.reset();
  binding.owners.clear();
  return failure;
}

Failure enqueue(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output,
                const std::shared_ptr<device::Stream>& stream) {
  auto binding = std::make_unique<Binding>();
  Failure failure = bind(id, input, output, *stream->device(), *binding);
  if (!failure.ok()) return failure;
  return stream->submit(kExecute, [binding = std::move(binding)] { return binding->run(); });
}

Failure enqueue_on(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output, Handle handle) {
  auto stream = device::Runtime::instance().stream(handle);
  if (!stream.ok()) return stream.status();
  return enqueue(id, input, output, *stream);
}

// With options: on the stream, and waited for at most as long as they say.
Failure execute_v2(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output, Handle handle,
                   const aclmdlExecConfigHandle* config_handle) {
  int32_t timeout_ms = -1;
  if (config_handle) {
    auto config = resolve<ExecConfig>(to_handle(config_handle));
    if (!config.ok()) return config.status();
    timeout_ms = (*config)->stream_timeout_ms;
  }
  auto stream = device::Runtime::instance().stream(handle);
  if (!stream.ok()) return stream.status();
  Failure failure = enqueue(id, input, output, *stream);
  if (!failure.ok()) return failure;
  return (*stream)->synchronize(timeout_ms < 0 ? Deadline::never()
                                               : Deadline::after_ms(timeout_ms));
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
  return enter(__func__, [&]() -> Failure {
    if (handle) {
      const auto config = resolve<ExecConfig>(to_handle(handle));
      if (!config.ok()) return config.status();
    }
    return enqueue_on(modelId, input, output, to_handle(stream));
  });
}

}  // extern "C"
