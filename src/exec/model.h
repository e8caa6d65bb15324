// SPDX-License-Identifier: Apache-2.0
// LoadedModel: a model that is ready to run on this machine. Owns its packed weights and a pool of
// arenas (or uses the caller's memory for either). run() is thread-safe: concurrent calls take an
// arena each; with the caller's work memory they queue, unless each brings its own. A run allocates
// nothing once as many runs have been in flight at a time. A graph with shapes that only a run can
// tell has a StepProgram in place of a plan, which allocates when shapes are new.
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
class Queue;
}

namespace anynpu::exec {

class StepObserver;
class WeightPool;

struct TensorInfo {
  std::string name;
  DType dtype = DType::undefined;
  Format format = Format::nd;
  Shape shape;        // -1 = told by each run
  size_t bytes = 0;   // 0 while the shape is open
  bool open = false;  // an output whose shape each run tells
};

// What a model needs on the present machine: exact, and the same for query and load.
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
  std::shared_ptr<StepObserver> observer = nullptr;  // told of every step
  ops::Target target = ops::Target::host();
};

struct Buffer {
  void* data = nullptr;
  size_t bytes = 0;
};

// One line per step of the plan: what `anynpu graph` and the tests look at.
struct StepInfo {
  std::string name, kernel;
  size_t workspace_bytes = 0;
};

class LoadedModel {
 public:
  static Result<std::shared_ptr<LoadedModel>> load(std::shared_ptr<const om::Model> model,
                                                   const LoadOptions& options = {});
  static Result<std::shared_ptr<LoadedModel>> load(const graph::Graph& graph,
                                                   const LoadOptions& options = {});
  // Without work memory of its own: every run brings what sizes() says.
  static Result<std::shared_ptr<LoadedModel>> load_without_work(const graph::Graph& graph);
  // Several forms of one model with the weights they have in common kept once. The caller's memory
  // holds the weights of all, and the work of the largest.
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
  // The same of several that share weights: those once, and the work of the largest.
  static Sizes sizes_of(std::span<const std::shared_ptr<LoadedModel>> models);
  std::vector<StepInfo> steps() const;

  // True when it has a Loop: a run may take any time, and asks check_cancelled().
  bool has_loops() const;

  // Buffers in the order of inputs() and outputs(), at least as large as their TensorInfo says; for
  // an open output as large as the caller likes, and the run fails when that is too small
  // (Code::output_mismatch).
  // `shapes`, when not null, receives the shape of each output, also when a buffer is too small.
  // `work`: memory for this run alone, as check_work() wants it; null = the model's.
  // `queue`: of the stream that this run is a task of; null = the run stands in no stream.
  Status run(std::span<const Buffer> in, std::span<const Buffer> out,
             std::vector<Shape>* shapes = nullptr, Buffer work = {},
             device::Queue* queue = nullptr);

  // Whether a run can work in this memory: sizes().work_bytes at a multiple of 64. Of a model whose
  // memory is not known before it runs, none can.
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
  std::unique_ptr<Impl> impl_;
};

}  // namespace anynpu::exec
