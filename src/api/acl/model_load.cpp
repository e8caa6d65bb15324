// SPDX-License-Identifier: Apache-2.0
// Loading and unloading of offline models, from files and from memory, with memory of our own or of
// the program, executed by calls or driven by queues.
#include "api/acl/model_load.h"

#include "acl/mdl/execute.h"
#include "api/acl/dump_state.h"
#include "api/acl/entry.h"
#include "api/acl/model_table.h"
#include "api/acl/model_trace.h"
#include "device/runtime.h"
#include "om/container.h"

namespace anynpu::acl {

namespace {

// Memory the program gives for one purpose; nothing when the address is null.
Result<device::Range> check_given(void* address, size_t size, const char* what) {
  if (!address) return device::Range{};
  ANYNPU_ASSIGN(device::Range range,
                device::check_range(address, size, device::Access::write, what));
  return range;
}

Result<om::Model> read_given(const void* model, size_t size, const om::WeightSource& weights = {}) {
  ANYNPU_ASSIGN(auto range, check_model_memory(model, size));
  // A copy: the program may free its memory as soon as the call returns.
  return om::read_copy(std::as_bytes(std::span(range.address, size)), weights);
}

Result<om::Model> read_named(const char* path, const om::WeightSource& weights = {}) {
  ANYNPU_TRY(check_pointer(path, "modelPath"));
  return om::read_file(path, weights);
}

template <typename Read>
Result<uint32_t> load_model(Read read, const GivenMemory& given, uint32_t bundle_id = 0,
                            ModelQueues* queues = nullptr) {
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  ANYNPU_ASSIGN(auto work, check_given(given.work, given.work_size, "workPtr"));
  ANYNPU_ASSIGN(auto weight, check_given(given.weight, given.weight_size, "weightPtr"));
  ANYNPU_ASSIGN(om::Model source, read());
  auto model = std::make_shared<Model>();
  model->device_id = context->device()->id();
  model->bundle_id = bundle_id;
  exec::LoadOptions options;
  options.work_memory = work.address;
  options.work_bytes = work.bytes;
  options.weight_memory = weight.address;
  options.weight_bytes = weight.bytes;
  auto offline = std::make_shared<const om::Model>(std::move(source));
  model->meta = std::make_shared<const om::Meta>(offline->meta);
  model->ops = describe_ops(*offline);
  const auto dump = observer_for_model(*model->meta, model->device_id);
  options.observer = dump;
  ANYNPU_ASSIGN(model->shaped, exec::ShapedModel::load(offline, options));
  model->current_gear = model->shaped->largest_gear();
  const exec::Sizes sizes = model->shaped->sizes();
  ANYNPU_ASSIGN(
      model->own_memory,
      device::occupy_device(*context->device(), (work.address ? 0 : sizes.work_bytes) +
                                                    (weight.address ? 0 : sizes.weight_bytes)),
      "for the weights and the work of the model");
  model->memory = {std::move(work), std::move(weight)};
  const auto shaped = model->shaped;
  if (queues) {
    ANYNPU_ASSIGN(model->drive, QueueDrive::create(model, context->device(), std::move(*queues)));
  }
  const auto drive = model->drive;
  ANYNPU_ASSIGN(const uint32_t id, ModelTable::instance().add(std::move(model)));
  trace_fusions(*offline, *shaped, id);
  if (dump) dump->set_model_id(id);
  if (drive) drive->start(id);
  return id;
}

}  // namespace

Result<device::Range> check_model_memory(const void* model, size_t size) {
  ANYNPU_TRY(check_pointer(model, "model"));
  if (size == 0) {
    return fail(Code::invalid_argument, "modelSize is 0; pass the number of bytes of the model");
  }
  return device::check_range(model, size, device::Access::read, "model");
}

Result<uint32_t> load_model_file(const char* path, const GivenMemory& given,
                                 const om::WeightSource& weights, ModelQueues* queues) {
  return load_model([&] { return read_named(path, weights); }, given, 0, queues);
}

Result<uint32_t> load_model_memory(const void* data, size_t size, const GivenMemory& given,
                                   const om::WeightSource& weights, ModelQueues* queues) {
  return load_model([&] { return read_given(data, size, weights); }, given, 0, queues);
}

Result<uint32_t> load_bundle_model(om::Model model, uint32_t bundle_id) {
  return load_model([&]() -> Result<om::Model> { return std::move(model); }, {}, bundle_id);
}

namespace {

Status store(Result<uint32_t> loaded, uint32_t* id) {
  ANYNPU_TRY(loaded.status());
  *id = *loaded;
  return {};
}

Status query(Result<om::Model> source, size_t* work_size, size_t* weight_size) {
  ANYNPU_TRY(source.status());
  ANYNPU_ASSIGN(const exec::Sizes sizes, exec::ShapedModel::query(*source));
  *work_size = sizes.work_bytes;
  *weight_size = sizes.weight_bytes;
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(workSize, "workSize"));
    ANYNPU_TRY(check_pointer(weightSize, "weightSize"));
    return query(read_named(fileName), workSize, weightSize);
  });
}

aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize,
                                size_t* weightSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(workSize, "workSize"));
    ANYNPU_TRY(check_pointer(weightSize, "weightSize"));
    return query(read_given(model, modelSize), workSize, weightSize);
  });
}

// The card places descriptions, kernels and tasks of a model in memory of their own. Here they have
// none: the description stays in the mapped file, kernels are code of the library.
aclError aclmdlQueryExeOMDesc(const char* fileName, aclmdlExeOMDesc* mdlPartitionSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(mdlPartitionSize, "mdlPartitionSize"));
    aclmdlExeOMDesc sizes{};
    ANYNPU_TRY(query(read_named(fileName), &sizes.workSize, &sizes.weightSize));
    *mdlPartitionSize = sizes;
    return {};
  });
}

aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    return store(load_model_file(modelPath, {}), modelId);
  });
}

aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    return store(load_model_memory(model, modelSize, {}), modelId);
  });
}

aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr,
                                   size_t workSize, void* weightPtr, size_t weightSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    const GivenMemory given{workPtr, workSize, weightPtr, weightSize};
    return store(load_model_file(modelPath, given), modelId);
  });
}

aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId,
                                  void* workPtr, size_t workSize, void* weightPtr,
                                  size_t weightSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    const GivenMemory given{workPtr, workSize, weightPtr, weightSize};
    return store(load_model_memory(model, modelSize, given), modelId);
  });
}

aclError aclmdlLoadFromFileWithQ(const char* modelPath, uint32_t* modelId, const uint32_t* inputQ,
                                 size_t inputQNum, const uint32_t* outputQ, size_t outputQNum) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    ModelQueues queues;
    Failure failure = find_queues(inputQ, inputQNum, outputQ, outputQNum, queues);
    if (!failure.ok()) return failure;
    return store(load_model_file(modelPath, {}, {}, &queues), modelId);
  });
}

aclError aclmdlLoadFromMemWithQ(const void* model, size_t modelSize, uint32_t* modelId,
                                const uint32_t* inputQ, size_t inputQNum, const uint32_t* outputQ,
                                size_t outputQNum) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    ModelQueues queues;
    Failure failure = find_queues(inputQ, inputQNum, outputQ, outputQNum, queues);
    if (!failure.ok()) return failure;
    return store(load_model_memory(model, modelSize, {}, {}, &queues), modelId);
  });
}

aclError aclmdlUnload(uint32_t modelId) {
  return enter(__func__, [&]() -> Status { return ModelTable::instance().remove(modelId); });
}

}  // extern "C"
