// SPDX-License-Identifier: Apache-2.0
#include "service/model/queue_drive.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/memory.h"
#include "service/model/failed_ops.h"
#include "service/model/model_table.h"
#include "service/model/tensor_side.h"

namespace anynpu::service {

namespace {

using device::BufferQueues;

constexpr size_t kMostQueues = 4096;

constinit device::TaskKind kTake{"take from input queues", device::Engine::control};
constinit device::TaskKind kRun{"model execution", device::Engine::compute};
constinit device::TaskKind kRunLoops{"model execution", device::Engine::compute, true};
constinit device::TaskKind kPut{"put into output queues", device::Engine::control};

// The one whose model this thread runs: it cannot wait for itself when a callback unloads it.
thread_local const QueueDrive* running = nullptr;

Result<BufferQueues::Ends> find_side(const uint32_t* ids, size_t count, const char* what) {
  if (count == 0) return BufferQueues::Ends();
  if (count > kMostQueues) {
    return fail(Code::invalid_argument,
                "{} has {} queues; expected one for each tensor, at most {}", what, count,
                kMostQueues);
  }
  ANYNPU_ASSIGN(const auto range, device::check_host_range(ids, count * sizeof(uint32_t),
                                                           device::Access::read, what));
  std::vector<uint32_t> copy(count);
  std::memcpy(copy.data(), range.address, count * sizeof(uint32_t));
  auto held = BufferQueues::instance().hold(copy);
  if (held.ok()) return held;
  const Status status = held.status().with_note(format("in {}", what));
  const bool unknown = status.code() == Code::not_found || status.code() == Code::unknown_queue;
  return unknown ? status.with_code(Code::model_queue_not_found) : status;
}

Status check_queue_count(const Model& model, TensorSide side, size_t queues) {
  const size_t tensors = tensors_of(*model.meta, side).size();
  if (queues == tensors) return {};
  return fail(
      mismatch_of(side),
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
                  [](const exec::TensorInfo& output) { return output.dynamic_shape; }))
    why = "outputs whose shape is known after a run alone";
  if (!why) return {};
  return fail(Code::unsupported_feature,
              "the model '{}' has {}; queues carry nothing but the bytes of tensors. Load it with "
              "aclmdlLoadFromFile and execute it, or compile it with fixed shapes",
              meta.name, why);
}

}  // namespace

Result<ModelQueues> find_queues(const QueueIds& ids, FailedRunReport report) {
  ModelQueues found;
  ANYNPU_ASSIGN(found.inputs, find_side(ids.inputs, ids.input_count, "inputQ"));
  ANYNPU_ASSIGN(found.outputs, find_side(ids.outputs, ids.output_count, "outputQ"));
  found.report = report;
  return found;
}

Result<std::shared_ptr<QueueDrive>> QueueDrive::create(const std::shared_ptr<Model>& model,
                                                       std::shared_ptr<device::Device> device,
                                                       ModelQueues queues) {
  ANYNPU_TRY(check_needs_buffers_alone(*model));
  ANYNPU_TRY(check_queue_count(*model, TensorSide::input, queues.inputs.size()));
  ANYNPU_TRY(check_queue_count(*model, TensorSide::output, queues.outputs.size()));
  return std::shared_ptr<QueueDrive>(new QueueDrive(model, std::move(device), std::move(queues)));
}

QueueDrive::QueueDrive(const std::shared_ptr<Model>& model, std::shared_ptr<device::Device> device,
                       ModelQueues queues)
    : model_(model),
      // Of no context, whose synchronize would wait for it forever.
      stream_(std::make_shared<device::Stream>(std::move(device), std::weak_ptr<device::Context>(),
                                               device::StreamOptions{})),
      queues_(std::move(queues)) {}

void QueueDrive::start(uint32_t model_id) {
  model_id_ = model_id;
  submit_run();
}

// Submitting fails once the stream is closed, and the drive with it.
void QueueDrive::submit_run() {
  const auto model = model_.lock();
  if (!model) return;
  device::TaskKind& run = model->shaped->only()->has_loops() ? kRunLoops : kRun;
  (void)stream_->submit(kTake, [self = shared_from_this()](device::TaskRun& task) {
    return BufferQueues::instance().take(task, self->queues_.inputs, self->input_buffers_);
  });
  (void)stream_->submit({run, model_id_},
                        [self = shared_from_this()] { return self->take_turn(); });
  (void)stream_->submit(kPut, [self = shared_from_this()](device::TaskRun& task) {
    self->submit_run();
    return BufferQueues::instance().put(task, self->queues_.outputs, self->output_buffers_);
  });
}

Status QueueDrive::take_turn() {
  const auto model = model_.lock();
  if (!model) return {};
  ++run_count_;
  const QueueDrive* before = std::exchange(running, this);
  const Status status = run_model(*model);
  input_buffers_.clear();
  if (!status.ok()) {
    output_buffers_.clear();
    while (output_buffers_.size() < queues_.outputs.size())
      output_buffers_.push_back(std::make_shared<device::QueueBuffer>());
    report_failed(*model, status);
  }
  running = before;
  return {};
}

Status QueueDrive::run_model(const Model& model) {
  exec::LoadedModel& loaded = *model.shaped->only();
  std::vector<exec::Buffer> in, out;
  for (size_t i = 0; i < loaded.inputs().size(); ++i) {
    const exec::TensorInfo& info = loaded.inputs()[i];
    const device::QueueBuffer& buffer = *input_buffers_[i];
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
  for (const exec::TensorInfo& info : loaded.outputs()) {
    ANYNPU_ASSIGN(auto buffer, device::QueueBuffer::create(info.bytes));
    out.push_back({buffer->data.get(), info.bytes});
    output_buffers_.push_back(std::move(buffer));
  }
  const Status status = loaded.run(in, out);
  if (!status.ok()) FailedOps::instance().note(model.ops);
  return status;
}

// As the failure of a task, but from here: a callback may unload the model.
void QueueDrive::report_failed(const Model& model, const Status& status) {
  device::report_failure({model.device_id, stream_->id(), run_count_,
                          device::current_thread_number(), kRun.text, status});
  if (!queues_.report) return;
  queues_.report(status.with_note(format(
      "in run {} of model {}, which its queues drive; each output queue gets an empty buffer",
      run_count_, model_id_)));
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

}  // namespace anynpu::service
