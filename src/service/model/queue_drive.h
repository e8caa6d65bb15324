// SPDX-License-Identifier: Apache-2.0
// Models fed by queues: in a loop, take one buffer from every input queue, in order of the inputs,
// run, and put one buffer into every output queue. This happens on a separate stream that parks
// while a queue is empty or full. Buffers hold the bytes of a tensor and nothing else. A failed run
// is reported, also to the exception callback, and leaves an empty buffer in each output queue, so
// that results stay in the order of their inputs and nobody waits forever.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "device/buffer_queue.h"
#include "device/stream.h"

namespace anynpu::service {

struct Model;

// Called for every failed run, in the thread of the run. May be null.
using FailedRunReport = void (*)(const Status& status);

// Ids of queues as a program gives them: one for each tensor, in order of their index.
struct QueueIds {
  const uint32_t* inputs = nullptr;
  size_t input_count = 0;
  const uint32_t* outputs = nullptr;
  size_t output_count = 0;
};

struct ModelQueues {
  device::BufferQueues::Ends inputs, outputs;
  FailedRunReport report = nullptr;
};

// Fails with model_queue_not_found for an id that no queue has.
Result<ModelQueues> find_queues(const QueueIds& ids, FailedRunReport report);

class QueueDrive : public std::enable_shared_from_this<QueueDrive> {
 public:
  // Fails when the queues do not fit the model, or when a run needs more than buffers.
  static Result<std::shared_ptr<QueueDrive>> create(const std::shared_ptr<Model>& model,
                                                    std::shared_ptr<device::Device> device,
                                                    ModelQueues queues);
  void start(uint32_t model_id);
  // Releases the queues. Their buffers stay there; a running execution ends, and its results are
  // dropped.
  void stop();

 private:
  QueueDrive(const std::shared_ptr<Model>& model, std::shared_ptr<device::Device> device,
             ModelQueues queues);
  void submit_run();
  Status take_turn();
  Status run_model(const Model& model);
  void report_failed(const Model& model, const Status& status);

  const std::weak_ptr<Model> model_;  // which owns this
  const std::shared_ptr<device::Stream> stream_;
  uint32_t model_id_ = 0;
  uint32_t run_count_ = 0;
  ModelQueues queues_;
  device::QueueBuffers input_buffers_, output_buffers_;
  std::mutex stopping_;
};

}  // namespace anynpu::service
