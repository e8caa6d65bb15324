// SPDX-License-Identifier: Apache-2.0
#include "api/acl/model_queues.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "acl/mdl/execute.h"
#include "api/acl/model_objects.h"
#include "api/acl/model_table.h"
#include "device/memory.h"

namespace anynpu::acl {

namespace {

using device::BufferQueues;

constexpr size_t kMostQueues = 4096;

constinit device::TaskKind kTake{"take from input queues", device::Engine::control};
constinit device::TaskKind kRun{"model execution", device::Engine::compute};
constinit device::TaskKind kRunLoops{"model execution", device::Engine::compute, true};
constinit device::TaskKind kPut{"put into output queues", device::Engine::control};

// The one whose model this thread runs: it cannot wait for itself when a callback unloads it.
thread_local const QueueDrive* running = nullptr;

Failure find_side(const uint32_t* ids, size_t count, const char* what, BufferQueues::Ends& found) {
  if (count == 0) return {};
  if (count > kMostQueues) {
    return fail(Code::invalid_argument,
                "{} has {} queues; expected one for each tensor, at most {}", what, count,
                kMostQueues);
  }
  ANYNPU_ASSIGN(const auto range,
                device::check_range(ids, count * sizeof(uint32_t), device::Access::read, what));
  std::vector<uint32_t> copy(count);
  std::memcpy(copy.data(), range.address, count * sizeof(uint32_t));
  auto held = BufferQueues::instance().hold(copy);
  if (held.ok()) {
    found = std::move(held).value();
    return {};
  }
  const Status status = held.status().with_note(format("in {}", what));
  if (status.code() != Code::not_found) return status;
  return {ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID, status};
}

Status check_count(const Model& model, TensorSide side, size_t queues) {
  const size_t tensors = tensors_of(*model.meta, side).size();
  if (queues == tensors) return {};
  return fail(
      side == TensorSide::input ? Code::shape_mismatch : Code::output_mismatch,
      "{} {} queues are given, the model '{}' has {} {}s; pass a queue for each, in order of "
      "their index",
      queues, name_of(side), model.meta->name, tensors, name_of(side));
}

// No call can be made between a buffer and its run, so nothing may be left to choose.
Status check_needs_buffers_alone(const Model& model) {
  const om::Meta& meta = *model.meta;
  const char* why = nullptr;
  if (meta.has_gears()) why = "gears, of which one is set for each run";
  if (meta.has_ranges()) why = "shapes that are set for each run";
  if (std::any_of(meta.aipp.begin(), meta.aipp.end(), [](const om::Aipp& a) { return a.dynamic; }))
    why = "dynamic AIPP, whose parameters are set for each run";
  if (!why &&
      std::any_of(model.shaped->only()->outputs().begin(), model.shaped->only()->outputs().end(),
                  [](const exec::TensorInfo& output) { return output.open; }))
    why = "outputs whose shape each run tells";
  if (!why) return {};
  return fail(Code::unsupported_feature,
              "the model '{}' has {}; queues carry nothing but the bytes of tensors. Load it with "
              "aclmdlLoadFromFile and execute it, or compile it with fixed shapes",
              meta.name, why);
}

}  // namespace

Failure find_queues(const uint32_t* inputs, size_t input_count, const uint32_t* outputs,
                    size_t output_count, ModelQueues& found) {
  Failure failure = find_side(inputs, input_count, "inputQ", found.inputs);
  return failure.ok() ? find_side(outputs, output_count, "outputQ", found.outputs) : failure;
}

Result<std::shared_ptr<QueueDrive>> QueueDrive::create(const std::shared_ptr<Model>& model,
                                                       std::shared_ptr<device::Device> device,
                                                       ModelQueues queues) {
  ANYNPU_TRY(check_needs_buffers_alone(*model));
  ANYNPU_TRY(check_count(*model, TensorSide::input, queues.inputs.size()));
  ANYNPU_TRY(check_count(*model, TensorSide::output, queues.outputs.size()));
  return std::shared_ptr<QueueDrive>(new QueueDrive(model, std::move(device), std::move(queues)));
}

QueueDrive::QueueDrive(const std::shared_ptr<Model>& model, std::shared_ptr<device::Device> device,
                       ModelQueues queues)
    : model_(model),
      // Of no context, whose synchronize would wait for it for ever.
      stream_(std::make_shared<device::Stream>(std::move(device), std::weak_ptr<device::Context>(),
                                               device::StreamOptions{})),
      queues_(std::move(queues)) {}

void QueueDrive::start(uint32_t model_id) {
  model_id_ = model_id;
  submit_round();
}

// Submitting fails once the stream is closed, and the drive with it.
void QueueDrive::submit_round() {
  const auto model = model_.lock();
  if (!model) return;
  device::TaskKind& run = model->shaped->only()->has_loops() ? kRunLoops : kRun;
  (void)stream_->submit(kTake, [self = shared_from_this()](device::TaskRun& task) {
    return BufferQueues::instance().take(task, self->queues_.inputs, self->taken_);
  });
  (void)stream_->submit({run, model_id_},
                        [self = shared_from_this()] { return self->run_round(); });
  (void)stream_->submit(kPut, [self = shared_from_this()](device::TaskRun& task) {
    self->submit_round();
    return BufferQueues::instance().put(task, self->queues_.outputs, self->made_);
  });
}

Status QueueDrive::run_round() {
  const auto model = model_.lock();
  if (!model) return {};
  ++rounds_;
  const QueueDrive* before = std::exchange(running, this);
  const Status status = run_model(*model);
  taken_.clear();
  if (!status.ok()) {
    made_.clear();
    while (made_.size() < queues_.outputs.size())
      made_.push_back(std::make_shared<device::QueueBuffer>());
    report_failed(*model, status);
  }
  running = before;
  return {};
}

Status QueueDrive::run_model(const Model& model) {
  exec::LoadedModel& plan = *model.shaped->only();
  std::vector<exec::Buffer> in, out;
  for (size_t i = 0; i < plan.inputs().size(); ++i) {
    const exec::TensorInfo& info = plan.inputs()[i];
    const device::QueueBuffer& buffer = *taken_[i];
    if (!buffer.chain.empty() || buffer.length < info.bytes) {
      return fail(
          Code::shape_mismatch,
          "input {} ('{}') came as {} of {} bytes, the model needs one buffer of {} ({} {}); "
          "put the whole tensor into one buffer",
          i, info.name, buffer.chain.empty() ? "a buffer" : "a chain that begins with one",
          buffer.length, info.bytes, anynpu::name_of(info.dtype), to_string(info.shape));
    }
    in.push_back({buffer.data.get(), info.bytes});
  }
  for (const exec::TensorInfo& info : plan.outputs()) {
    ANYNPU_ASSIGN(auto buffer, device::QueueBuffer::create(info.bytes));
    out.push_back({buffer->data.get(), info.bytes});
    made_.push_back(std::move(buffer));
  }
  const Status status = plan.run(in, out);
  if (!status.ok()) note_failed_op(model.ops);
  return status;
}

// As the failure of a task, but from here: a callback may unload the model.
void QueueDrive::report_failed(const Model& model, const Status& status) {
  device::report_failure({model.device_id, stream_->id(), rounds_, device::current_thread_number(),
                          kRun.text, status});
  (void)report("aclmdlLoadFromFileWithQ",
               status.with_note(format("in run {} of model {}, which its queues drive; each output "
                                       "queue gets an empty buffer",
                                       rounds_, model_id_)));
}

void QueueDrive::stop() {
  if (running == this) {
    stream_->disable(fail(Code::aborted, "the model of this stream was unloaded"));
    stream_->abort();
  } else {
    stream_->close(device::Stream::Close::force);
  }
  const std::lock_guard lock(stopping_);
  BufferQueues::instance().withdraw(queues_.inputs);
  BufferQueues::instance().withdraw(queues_.outputs);
  queues_ = {};
}

}  // namespace anynpu::acl
