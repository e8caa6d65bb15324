// SPDX-License-Identifier: Apache-2.0
// LoadedModel: a model that is ready to run on a device. Owns its packed weights and a pool of
// arenas (or uses the caller's memory for either): on the host, or in the memory of a device with
// its own kernels. run() is thread-safe: concurrent calls use separate arenas; with the caller's
// work memory they are serialized, unless each passes its own. A run allocates nothing once as many
// runs have been in flight at a time. A graph with data-dependent shapes has a StepProgram instead
// of a plan, which allocates when shapes are new.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "om/model.h"
#include "ops/target.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::device {
class Device;
class Queue;
}  // namespace anynpu::device

namespace anynpu::exec {

class StepObserver;
class WeightPool;

struct TensorInfo {
  std::string name;
  DType dtype = DType::undefined;
  Format format = Format::nd;
  Shape shape;                 // -1 = known after each run
  size_t bytes = 0;            // 0 if the shape is unknown
  bool dynamic_shape = false;  // an output with a data-dependent shape
};

// The memory that a model needs (device memory if its plan is for a device): exact, and the same
// for query and load.
struct Sizes {
  size_t weight_bytes = 0;
  size_t work_bytes = 0;
};

struct LoadOptions {
  // Memory of the caller, aligned to 64 bytes, kept until the model is gone; null = own memory.
  void* weight_memory = nullptr;
  size_t weight_bytes = 0;
  void* work_memory = nullptr;
  size_t work_bytes = 0;
  std::shared_ptr<StepObserver> observer = nullptr;  // of every step
  ops::Target target = ops::Target::host();
  // Set with a target that is not the CPU: weights and work memory are in its memory, and runs are
  // submitted to its queues.
  std::shared_ptr<device::Device> device = nullptr;

  // Sets target and device for models that run on `device`.
  void run_on(const std::shared_ptr<device::Device>& device);
};

// Kernels and number of threads of plans for `device`.
ops::Target target_of(const device::Device& device);
// The key of plans: the device itself if models are in its memory, null if they use host plans,
// which all devices share.
const device::Device* plan_owner(const device::Device& device);

struct Buffer {
  void* data = nullptr;
  size_t bytes = 0;
};

// One line per step of the plan, for `anynpu graph` and tests.
struct StepInfo {
  std::string name, kernel;
  size_t workspace_bytes = 0;
};

class LoadedModel : public std::enable_shared_from_this<LoadedModel> {
 public:
  static Result<std::shared_ptr<LoadedModel>> load(std::shared_ptr<const om::Model> model,
                                                   const LoadOptions& options = {});
  static Result<std::shared_ptr<LoadedModel>> load(const graph::Graph& graph,
                                                   const LoadOptions& options = {});
  // Without its own work memory: every run passes sizes().work_bytes.
  static Result<std::shared_ptr<LoadedModel>> load_without_work(const graph::Graph& graph,
                                                                const LoadOptions& options = {});
  // Several variants of one model (gears) with shared weights stored once. The caller's memory
  // holds the weights of all, and the work memory of the largest.
  static Result<std::vector<std::shared_ptr<LoadedModel>>> load_all(
      std::span<const graph::Graph> graphs, WeightPool& weights, const LoadOptions& options = {});
  // The sizes load() and load_all() will use, without loading.
  static Result<Sizes> query(const graph::Graph& graph,
                             const ops::Target& target = ops::Target::host());
  static Result<Sizes> query_all(std::span<const graph::Graph> graphs, WeightPool& weights,
                                 const ops::Target& target = ops::Target::host());

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;
  Sizes sizes() const;
  // The same for several that share weights: weights once, and the work memory of the largest.
  static Sizes sizes_of(std::span<const std::shared_ptr<LoadedModel>> models);
  std::vector<StepInfo> steps() const;

  // True when it has a Loop: a run may take long, and calls check_cancelled().
  bool has_loops() const;
  // Runs with a queue only submit work; the calling thread computes nothing.
  bool only_enqueues() const;

  // Buffers in the order of inputs() and outputs(), at least as large as their TensorInfo says; the
  // buffer of an output of dynamic shape may have any size, and the run fails if it is too small
  // (Code::output_mismatch).
  // `shapes`, when not null, receives the shape of each output, even if a buffer is too small.
  // `work`: memory for this run only, see check_work(); null = the model's.
  // `queue`: of the stream that this run is a task of; null = the run is not in a stream, and is
  // complete when this returns. With a queue of a device with its own kernels, buffers and `work`
  // must stay until the queue is done.
  Status run(std::span<const Buffer> in, std::span<const Buffer> out,
             std::vector<Shape>* shapes = nullptr, Buffer work = {},
             device::Queue* queue = nullptr);

  // Whether a run can use this memory: sizes().work_bytes, aligned to 64. Always refused for a
  // model whose memory is not known before it runs.
  Status check_work(Buffer work) const;

  // For measurements: nanoseconds of each step of one run.
  Status run_timed(std::span<const Buffer> in, std::span<const Buffer> out,
                   std::vector<uint64_t>& step_ns);

  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

 private:
  struct Impl;
  explicit LoadedModel(std::unique_ptr<Impl> impl);
  static Result<std::unique_ptr<Impl>> prepare(const graph::Graph& graph, WeightPool& weights,
                                               const LoadOptions& options);
  struct Run;
  Status launch(const Run& given, device::Queue* queue);
  std::unique_ptr<Impl> impl_;
};

}  // namespace anynpu::exec
