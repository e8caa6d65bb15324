// SPDX-License-Identifier: Apache-2.0
#include "service/model/load.h"

#include "compile/open_model.h"
#include "device/runtime.h"
#include "exec/observer.h"
#include "service/check_pointer.h"
#include "service/dump/dump_control.h"
#include "service/model/model_table.h"
#include "service/model/trace_fusions.h"

namespace anynpu::service {

namespace {

// Memory the program gives for one purpose; nothing when the address is null.
Result<device::Range> check_given(void* address, size_t size, const char* what) {
  if (!address) return device::Range{};
  return device::check_range(address, size, device::Access::write, what);
}

Result<om::Model> read_memory(const void* model, size_t size,
                              const om::WeightSource& weights = {}) {
  ANYNPU_ASSIGN(auto range, check_model_memory(model, size));
  // A copy: the program may free its memory as soon as the call returns.
  return compile::open_copy(std::as_bytes(std::span(range.address, size)), weights);
}

Result<om::Model> read_file(const char* path, const om::WeightSource& weights = {}) {
  ANYNPU_TRY(check_pointer(path, "modelPath"));
  return compile::open_file(path, weights);
}

// Sizes may be queried before there is a device.
ops::Target current_target() {
  const auto context = device::Runtime::instance().current();
  return context.ok() ? exec::target_of(*(*context)->device()) : ops::Target::host();
}

Result<std::shared_ptr<Model>> build_model(const std::shared_ptr<const om::Model>& source,
                                           const std::shared_ptr<device::Device>& device,
                                           device::Range work, device::Range weight) {
  auto model = std::make_shared<Model>();
  model->device_id = device->id();
  model->meta = std::make_shared<const om::Meta>(source->meta);
  model->ops = describe_ops(*source);
  model->observer = observer_for_model(*model->meta, model->device_id);
  exec::LoadOptions options;
  options.work_memory = work.address;
  options.work_bytes = work.bytes;
  options.weight_memory = weight.address;
  options.weight_bytes = weight.bytes;
  options.observer = model->observer;
  options.run_on(device);
  ANYNPU_ASSIGN(model->shaped, exec::ShapedModel::load(source, options));
  model->current_gear = model->shaped->largest_gear();
  if (!options.device) {  // its memory is that of the host, and counts as the device's
    const exec::Sizes sizes = model->shaped->sizes();
    ANYNPU_ASSIGN(model->own_memory,
                  device::occupy_device(*device, (work.address ? 0 : sizes.work_bytes) +
                                                     (weight.address ? 0 : sizes.weight_bytes)),
                  "for the weights and the work of the model");
  }
  model->memory = {std::move(work), std::move(weight)};
  return model;
}

// Gives the model its id; from then on programs can use it.
Result<uint32_t> publish(std::shared_ptr<Model> model, const om::Model& source) {
  const auto shaped = model->shaped;
  const auto observer = model->observer;
  const auto drive = model->drive;
  ANYNPU_ASSIGN(const uint32_t id, ModelTable::instance().add(std::move(model)));
  trace_fusions(source, *shaped, id);
  if (observer) observer->set_model_id(id);
  if (drive) drive->start(id);
  return id;
}

template <typename Read>
Result<uint32_t> load_model(Read read, const ModelLoadOptions& options, uint32_t bundle_id = 0) {
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  const GivenMemory& given = options.given;
  ANYNPU_ASSIGN(auto work, check_given(given.work, given.work_size, "workPtr"));
  ANYNPU_ASSIGN(auto weight, check_given(given.weight, given.weight_size, "weightPtr"));
  ANYNPU_ASSIGN(om::Model read_model, read());
  const auto source = std::make_shared<const om::Model>(std::move(read_model));
  ANYNPU_ASSIGN(auto model,
                build_model(source, context->device(), std::move(work), std::move(weight)));
  model->bundle_id = bundle_id;
  if (options.queues) {
    ANYNPU_ASSIGN(model->drive,
                  QueueDrive::create(model, context->device(), std::move(*options.queues)));
  }
  return publish(std::move(model), *source);
}

}  // namespace

Result<device::Range> check_model_memory(const void* model, size_t size) {
  ANYNPU_TRY(check_pointer(model, "model"));
  if (size == 0) {
    return fail(Code::invalid_argument, "modelSize is 0; pass the number of bytes of the model");
  }
  ANYNPU_ASSIGN(auto range, device::check_range(model, size, device::Access::read, "model"));
  return device::readable_range(std::move(range));
}

Result<uint32_t> load_model_file(const char* path, const ModelLoadOptions& options) {
  return load_model([&] { return read_file(path, options.weights); }, options);
}

Result<uint32_t> load_model_memory(const void* data, size_t size, const ModelLoadOptions& options) {
  return load_model([&] { return read_memory(data, size, options.weights); }, options);
}

Result<uint32_t> load_queue_model_file(const char* path, const QueueIds& queues,
                                       FailedRunReport report) {
  ANYNPU_ASSIGN(ModelQueues found, find_queues(queues, report));
  return load_model_file(path, {{}, {}, &found});
}

Result<uint32_t> load_queue_model_memory(const void* data, size_t size, const QueueIds& queues,
                                         FailedRunReport report) {
  ANYNPU_ASSIGN(ModelQueues found, find_queues(queues, report));
  return load_model_memory(data, size, {{}, {}, &found});
}

Result<uint32_t> load_bundle_model(om::Model model, uint32_t bundle_id) {
  return load_model([&]() -> Result<om::Model> { return std::move(model); }, {}, bundle_id);
}

Result<exec::Sizes> query_file_sizes(const char* path) {
  ANYNPU_ASSIGN(const om::Model source, read_file(path));
  return exec::ShapedModel::query(source, current_target());
}

Result<exec::Sizes> query_memory_sizes(const void* data, size_t size) {
  ANYNPU_ASSIGN(const om::Model source, read_memory(data, size));
  return exec::ShapedModel::query(source, current_target());
}

}  // namespace anynpu::service
