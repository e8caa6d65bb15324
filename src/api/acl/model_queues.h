// SPDX-License-Identifier: Apache-2.0
// Models that queues drive (aclmdlLoadFromFileWithQ and its kin): one buffer from every input
// queue, in order of the inputs, a run, one buffer into every output queue; again and again, on a
// stream of its own that parks while a queue is empty or full. Buffers hold the bytes of a tensor
// and nothing else. A run that fails is logged and told to the exception callback, and leaves an
// empty buffer in each output queue, so that results stay in the order of their inputs and nobody
// waits for ever. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "api/acl/errors.h"
#include "base/result.h"
#include "device/buffer_queue.h"
#include "device/stream.h"

namespace anynpu::acl {

struct Model;

struct ModelQueues {
  device::BufferQueues::Ends inputs, outputs;
};

// The queues of these ids; ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID for one that is none.
Failure find_queues(const uint32_t* inputs, size_t input_count, const uint32_t* outputs,
                    size_t output_count, ModelQueues& found);

class QueueDrive : public std::enable_shared_from_this<QueueDrive> {
 public:
  // Fails when the queues do not fit the model, or when a run needs more than buffers.
  static Result<std::shared_ptr<QueueDrive>> create(const std::shared_ptr<Model>& model,
                                                    std::shared_ptr<device::Device> device,
                                                    ModelQueues queues);
  void start(uint32_t model_id);
  // Lets go of the queues. What waits in them stays there; a run that has begun ends, and its
  // results are dropped.
  void stop();

 private:
  QueueDrive(const std::shared_ptr<Model>& model, std::shared_ptr<device::Device> device,
             ModelQueues queues);
  void submit_round();
  Status run_round();
  Status run_model(const Model& model);
  void report_failed(const Model& model, const Status& status);

  const std::weak_ptr<Model> model_;  // which owns this
  const std::shared_ptr<device::Stream> stream_;
  uint32_t model_id_ = 0;
  uint32_t rounds_ = 0;
  ModelQueues queues_;
  device::QueueBuffers taken_, made_;
  std::mutex stopping_;
};

}  // namespace anynpu::acl
