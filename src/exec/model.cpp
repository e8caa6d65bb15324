// SPDX-License-Identifier: Apache-2.0
#include "exec/model.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "base/env.h"
#include "base/log.h"
#include "base/quiet_write.h"
#include "base/spare_pool.h"
#include "compile/infer_flow.h"
#include "compile/passes.h"
#include "device/device.h"
#include "device/queue.h"
#include "exec/device_buffers.h"
#include "exec/host_buffers.h"
#include "exec/memory.h"
#include "exec/observe.h"
#include "exec/plan.h"
#include "exec/runner.h"
#include "exec/step_program.h"
#include "exec/weight_pool.h"
#include "graph/flow.h"
#include "trace/names.h"
#include "trace/trace.h"

namespace anynpu::exec {

namespace {

constexpr size_t kMostBuffers = om::kMostTensors;  // of one side of a run, kept on the stack

std::vector<TensorInfo> describe(const graph::Graph& graph,
                                 const std::vector<graph::ValueId>& ids) {
  std::vector<TensorInfo> infos;
  for (graph::ValueId id : ids) {
    const graph::Value& v = graph.values[static_cast<size_t>(id)];
    const int64_t count = v.has_shape ? element_count(v.shape) : kDynamicDim;
    infos.push_back({v.name, v.dtype, v.format, v.shape,
                     count > 0 ? bytes_of(v.dtype, static_cast<size_t>(count)) : 0, count < 0});
  }
  return infos;
}

// `unfit` is the code of a buffer that is too small.
Status check_buffers(std::span<const Buffer> buffers, const std::vector<TensorInfo>& infos,
                     const char* what, Code unfit, void** addresses) {
  if (buffers.size() != infos.size()) {
    return fail(Code::invalid_argument,
                "{} {} buffers were given, the model has {}; add one for each", buffers.size(),
                what, infos.size());
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].bytes < infos[i].bytes || (!buffers[i].data && infos[i].bytes > 0)) {
      return fail(
          unfit,
          "{} '{}' has {} bytes at {}, the model needs {} for {} of {}; give a buffer of that size",
          what, infos[i].name, buffers[i].bytes, static_cast<const void*>(buffers[i].data),
          infos[i].bytes, to_string(infos[i].shape), name_of(infos[i].dtype));
    }
    addresses[i] = buffers[i].data;
  }
  return {};
}

// The inferred graph if some shapes are known only at run time; null if a plan can be made.
Result<std::shared_ptr<const graph::Graph>> dynamic_graph(const graph::Graph& graph) {
  using Shared = std::shared_ptr<const graph::Graph>;
  if (compile::all_shapes_known(graph)) return Shared{};
  auto inferred = std::make_shared<graph::Graph>(graph);
  ANYNPU_TRY(compile::infer_and_fold(*inferred));
  if (compile::all_shapes_known(*inferred)) return Shared{};
  return Shared(std::move(inferred));
}

bool has_loop(const graph::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const graph::Node& node) {
    if (node.op == "Loop") return true;
    for (std::string_view attr : graph::subgraph_attrs(node)) {
      const auto inner = graph::subgraph(node, attr);
      if (inner && has_loop(*inner)) return true;
    }
    return false;
  });
}

// Kernels of the CPU keep weights and work in memory that they can use for the life of the model:
// that of the caller, or memory of their own where the host cannot read the caller's.
bool can_borrow(const void* address) {
  if (!address || device::host_reads_all_memory()) return address != nullptr;
  const auto memory = device::DeviceMemory::find(reinterpret_cast<uintptr_t>(address));
  return !memory || memory->host_readable();
}

// Whether plans for `device` (null: the host) can use this memory of the caller's.
Result<bool> can_borrow(const void* address, device::Device* device) {
  if (!device || !address) return can_borrow(address);
  ANYNPU_ASSIGN(const auto memory, device->memory());
  return memory->contains(reinterpret_cast<uintptr_t>(address));
}

// The caller's memory, checked, or our own.
Result<Memory> borrow_or_allocate(const Buffer& given, size_t needed, const char* what,
                                  device::Device* device) {
  if (given.data) {
    ANYNPU_ASSIGN(Memory checked, Memory::borrow(given.data, given.bytes, needed, what));
    ANYNPU_ASSIGN(const bool usable, can_borrow(given.data, device));
    if (usable) return checked;
  }
  return device ? Memory::allocate_on(*device, needed) : Memory::allocate(needed);
}

// The side whose bytes count: in a plan for a device, weights of fallback steps are extra.
WeightSide weights_of(const ops::Target& target) {
  return target.backend == "cpu" ? WeightSide::host : WeightSide::device;
}

Status memory_unknown(const graph::Graph& graph) {
  return fail(Code::unsupported_shape,
              "values of a run decide shapes in the model '{}', so the memory it needs is not "
              "known; load it without memory of your own",
              graph.name);
}

}  // namespace

struct LoadedModel::Run {
  std::span<const Buffer> in, out;
  uint64_t* step_ns = nullptr;
  std::vector<Shape>* shapes = nullptr;
  Buffer work = {};
};

struct LoadedModel::Impl {
  std::vector<TensorInfo> inputs, outputs;
  std::shared_ptr<const StepProgram> program;  // in place of the plan
  Plan plan;
  std::shared_ptr<device::Device> device;            // set when the plan is for one
  SparePool<std::shared_ptr<device::Queue>> queues;  // of that device, for runs without a stream
  std::vector<TracedStep> names;
  bool loops = false;
  bool only_enqueues = false;
  bool queued = false;  // the caller's work memory: one run at a time
  std::mutex queue;
  SparePool<PlanRunner> runners;
  SparePool<PlanRunner> bare_runners;  // without an arena, for runs that bring theirs
  std::mutex launched_mutex;
  std::map<const device::Queue*, std::weak_ptr<PlanRunner>> launched;  // by the queue they are in
  struct ProgramEnds {  // what a program is given and returns, kept for the next run
    std::vector<RunValue> given, results;
  };
  SparePool<ProgramEnds> program_ends;
  std::shared_ptr<StepObserver> observer;

  Result<std::unique_ptr<PlanRunner>> take() {
    if (auto runner = runners.take()) return runner;
    ANYNPU_ASSIGN(Memory arena, borrow_or_allocate({}, plan.work_bytes, "work", device.get()));
    return make_runner(std::move(arena));
  }

  Result<std::unique_ptr<PlanRunner>> make_runner(Memory arena) {
    if (!device) return std::make_unique<PlanRunner>(plan, names, std::move(arena));
    ANYNPU_ASSIGN(Memory host, Memory::allocate(plan.host_work_bytes));
    return std::make_unique<PlanRunner>(plan, names, std::move(arena), std::move(host));
  }

  Status check_work(Buffer work) const {
    if (program || !plan.memory_known) {
      return fail(Code::unsupported_shape,
                  "values of a run decide shapes in this model, so the memory it needs is not "
                  "known; run it without work memory of your own");
    }
    return Memory::borrow(work.data, work.bytes, plan.work_bytes, "work").status();
  }

  Result<std::unique_ptr<PlanRunner>> take_for(Buffer work) {
    auto runner = bare_runners.take();
    if (!runner) {
      ANYNPU_ASSIGN(runner, make_runner(Memory{}));
    }
    runner->use_arena(static_cast<std::byte*>(work.data));
    return runner;
  }

  // What needs no work memory. The weights are filled.
  void settle(const LoadOptions& options) {
    plan.forget_graph();
    observer = options.observer;
    if (observer) observe(plan, observer);
    only_enqueues = plan.only_enqueues();
    for (const PlanStep& step : plan.steps)
      names.push_back({trace::intern(step.name), trace::intern(step.traced)});
  }

  Status finish(const LoadOptions& options) {
    settle(options);
    const Buffer given{options.work_memory, options.work_bytes};
    ANYNPU_ASSIGN(queued, can_borrow(given.data, device.get()));
    ANYNPU_ASSIGN(Memory arena, borrow_or_allocate(given, plan.work_bytes, "work", device.get()));
    ANYNPU_ASSIGN(auto runner, make_runner(std::move(arena)));
    runners.give(std::move(runner));
    return {};
  }

  Status run_program(std::span<const Buffer> in, std::span<const Buffer> out,
                     std::vector<Shape>* shapes) {
    auto ends = program_ends.take();
    if (!ends) ends = std::make_unique<ProgramEnds>();
    Status status = run_program(in, out, shapes, *ends);
    for (RunValue& value : ends->given) value.clear();
    for (RunValue& value : ends->results) value.clear();
    program_ends.give(std::move(ends));
    return status;
  }

  Status run_program(std::span<const Buffer> in, std::span<const Buffer> out,
                     std::vector<Shape>* shapes, ProgramEnds& ends) {
    auto& [given, results] = ends;
    given.resize(in.size());
    results.resize(outputs.size());
    for (size_t i = 0; i < in.size(); ++i) {
      given[i].set_borrowed(inputs[i].dtype, inputs[i].shape, in[i].data);
    }
    ANYNPU_TRY(program->run(given, results));
    // All shapes first: who gave too small a buffer learns how large it has to be.
    for (size_t i = 0; shapes && i < results.size(); ++i) (*shapes)[i] = results[i].shape;
    for (size_t i = 0; i < results.size(); ++i) {
      const RunValue& result = results[i];
      if (!result.is_tensor() || result.dtype != outputs[i].dtype) {
        return fail(Code::shape_mismatch, "output '{}' is {} in this run, the model states {}",
                    outputs[i].name, name_of(result.dtype), name_of(outputs[i].dtype));
      }
      if (out[i].bytes < result.bytes()) {
        return fail(Code::output_mismatch,
                    "output '{}' has {} {} in this run, which takes {} bytes; its buffer has {}: "
                    "give a larger one",
                    outputs[i].name, name_of(result.dtype), to_string(result.shape), result.bytes(),
                    out[i].bytes);
      }
      if (result.bytes() > 0) std::memcpy(out[i].data, result.data.get(), result.bytes());
    }
    return {};
  }

  Status run(const Run& given) {
    if (device::host_reads_all_memory()) [[likely]]
      return run_on_host(given.in, given.out, given.step_ns, given.shapes, given.work);
    Buffer work = given.work;
    if (work.data) ANYNPU_TRY(check_work(work));
    if (!can_borrow(work.data)) work = {};
    return HostBuffers(given.in, given.out).run([&](auto seen_in, auto seen_out) {
      return run_on_host(seen_in, seen_out, given.step_ns, given.shapes, work);
    });
  }

  void tell_shapes(std::vector<Shape>* shapes) const {
    if (!shapes) return;
    shapes->resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) (*shapes)[i] = outputs[i].shape;
  }

  // A queue of our own, for a run outside of a stream.
  std::shared_ptr<device::Queue> take_queue() {
    if (auto spare = queues.take()) return *spare;
    return device->create_queue(0);
  }

  // Runs of one queue come one after the other, so they share work memory.
  Result<std::shared_ptr<PlanRunner>> runner_for(device::Queue& queue, Buffer work,
                                                 const std::shared_ptr<LoadedModel>& self) {
    if (queue.recording()) {  // the recording has work memory of its own
      ANYNPU_ASSIGN(std::unique_ptr<PlanRunner> own, work.data ? take_for(work) : take());
      return std::shared_ptr<PlanRunner>(own.release(), [self](PlanRunner* used) { delete used; });
    }
    const std::lock_guard lock(launched_mutex);
    std::erase_if(launched, [](const auto& one) { return one.second.expired(); });
    std::weak_ptr<PlanRunner>& last = launched[&queue];
    if (!work.data) {
      if (auto busy = last.lock()) return busy;
    }
    ANYNPU_ASSIGN(std::unique_ptr<PlanRunner> runner, work.data ? take_for(work) : take());
    auto& pool = work.data ? bare_runners : runners;
    // `launched` keeps the deleter alive, so it lets go of the model when it has run.
    auto give_back = [model = self, &pool](PlanRunner* used) mutable {
      const auto last_use = std::move(model);
      pool.give(std::unique_ptr<PlanRunner>(used));
    };
    std::shared_ptr<PlanRunner> held(runner.release(), std::move(give_back));
    if (!work.data) last = held;
    return held;
  }

  // Gives the run to `queue`. `self` is kept until the queue is done with it.
  Status launch(const Run& given, device::Queue& queue, const std::shared_ptr<LoadedModel>& self) {
    tell_shapes(given.shapes);
    void* sources[kMostBuffers];
    void* targets[kMostBuffers];
    ANYNPU_TRY(check_buffers(given.in, inputs, "input", Code::shape_mismatch, sources));
    ANYNPU_TRY(check_buffers(given.out, outputs, "output", Code::output_mismatch, targets));
    DeviceBuffers buffers(*device);
    ANYNPU_TRY(buffers.bring({sources, inputs.size()}, inputs, device::Access::read));
    ANYNPU_TRY(buffers.bring({targets, outputs.size()}, outputs, device::Access::write));
    Buffer work = given.work;
    if (work.data) {
      ANYNPU_TRY(check_work(work));
      ANYNPU_ASSIGN(const bool usable, can_borrow(work.data, device.get()));
      if (!usable) work = {};
    }
    std::unique_lock<std::mutex> turn;
    if (queued && !work.data) turn = std::unique_lock(this->queue);
    if (observer) observer->begin();
    ANYNPU_ASSIGN(const std::shared_ptr<PlanRunner> held, runner_for(queue, work, self));
    Status status =
        held->launch({sources, inputs.size()}, {targets, outputs.size()}, given.step_ns, queue);
    queue.keep(held);
    // Memory that others wait for, and copies, are done with when this returns.
    if (!status.ok() || turn.owns_lock() || buffers.copied()) {
      Status done = queue.drain();
      if (status.ok()) status = std::move(done);
    }
    return status.ok() ? buffers.copy_back() : status;
  }

  // Buffers at addresses that the host can use.
  Status run_on_host(std::span<const Buffer> in, std::span<const Buffer> out, uint64_t* step_ns,
                     std::vector<Shape>* shapes, Buffer work) {
    tell_shapes(shapes);
    void* sources[kMostBuffers];
    void* targets[kMostBuffers];
    ANYNPU_TRY(check_buffers(in, inputs, "input", Code::shape_mismatch, sources));
    ANYNPU_TRY(check_buffers(out, outputs, "output", Code::output_mismatch, targets));
    if (work.data) ANYNPU_TRY(check_work(work));
    if (program) {
      if (observer) observer->begin();
      return run_program(in, out, shapes);
    }
    std::unique_lock<std::mutex> turn;
    if (queued && !work.data) turn = std::unique_lock(queue);
    ANYNPU_ASSIGN(std::unique_ptr<PlanRunner> runner, work.data ? take_for(work) : take());
    if (observer) [[unlikely]]
      observer->begin();
    Status status = runner->run({sources, in.size()}, {targets, out.size()}, step_ns);
    (work.data ? bare_runners : runners).give(std::move(runner));
    return status;
  }
};

namespace {

// How the arena is shared, for memory profiles taken while the model is loaded.
void trace_arena(const Plan& plan, const std::string& model) {
  if (!trace::enabled(trace::Category::memory)) return;
  const trace::NameId title = trace::intern(model);
  for (const ArenaUse& use : plan.arena_uses) {
    if (use.first_step >= plan.steps.size()) continue;
    trace::instant(trace::Category::memory, trace::intern(plan.steps[use.first_step].name),
                   trace::current_correlation(), use.bytes,
                   {use.first_step | uint64_t{use.last_step} << 32, 0, title, 0});
  }
}

}  // namespace

LoadedModel::LoadedModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LoadedModel::~LoadedModel() = default;

// All but the memory: that of the weights comes when all plans of a round are made.
Result<std::unique_ptr<LoadedModel::Impl>> LoadedModel::prepare(const graph::Graph& graph,
                                                                WeightPool& weights,
                                                                const LoadOptions& options) {
  auto impl = std::make_unique<Impl>();
  if (graph.inputs.size() > kMostBuffers || graph.outputs.size() > kMostBuffers) {
    return fail(Code::limit_exceeded,
                "the model has {} inputs and {} outputs, at most {} are supported",
                graph.inputs.size(), graph.outputs.size(), kMostBuffers);
  }
  impl->loops = has_loop(graph);
  impl->inputs = describe(graph, graph.inputs);
  impl->outputs = describe(graph, graph.outputs);
  ANYNPU_ASSIGN(const std::shared_ptr<const graph::Graph> dynamic, dynamic_graph(graph));
  if (dynamic) {
    if (options.weight_memory || options.work_memory) return memory_unknown(graph);
    impl->outputs = describe(*dynamic, dynamic->outputs);
    // The host finds out the shapes, so it runs all of the model.
    const ops::Target target = options.device ? ops::Target::host() : options.target;
    if (options.device) {
      ANYNPU_LOG(warning,
                 "model '{}': all {} operators run on the host: values of a run decide its shapes",
                 graph.name, graph.nodes.size());
      if (env::lists(env::Name::verbose, "dispatch")) {
        const std::string line =
            format("anynpu,dispatch,Graph '{}',program,falls back from {} to the host\n",
                   graph.name, options.target.backend);
        write_error_text(line);
      }
    }
    ANYNPU_ASSIGN(impl->program, StepProgram::make(*dynamic, target, options.observer));
    impl->observer = options.observer;
    return impl;
  }
  impl->device = options.device;
  ANYNPU_ASSIGN(impl->plan, make_plan(graph, options.target, weights, options.observer));
  if (!impl->plan.memory_known && (options.weight_memory || options.work_memory))
    return memory_unknown(graph);
  const Plan& plan = impl->plan;
  if (options.device) plan.log_fallbacks(graph.name, options.target.backend);
  trace_arena(plan, graph.name);
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    TensorInfo& info = impl->outputs[i];
    info.dtype = plan.outputs[i].dtype;
    info.shape = plan.outputs[i].shape;
    info.bytes = bytes_of(info.dtype, static_cast<size_t>(element_count(info.shape)));
    info.dynamic_shape = false;
  }
  return impl;
}

Result<std::vector<std::shared_ptr<LoadedModel>>> LoadedModel::load_all(
    std::span<const graph::Graph> graphs, WeightPool& weights, const LoadOptions& options) {
  weights.open();
  std::vector<std::unique_ptr<Impl>> made;
  for (const graph::Graph& graph : graphs) {
    ANYNPU_ASSIGN(auto impl, prepare(graph, weights, options));
    made.push_back(std::move(impl));
  }
  const Buffer given{options.weight_memory, options.weight_bytes};
  WeightChunk& host = *weights.chunk(WeightSide::host);
  WeightChunk& on_device = *weights.chunk(WeightSide::device);
  if (options.device) {
    ANYNPU_ASSIGN(on_device.memory,
                  borrow_or_allocate(given, on_device.bytes, "weight", options.device.get()));
    ANYNPU_ASSIGN(host.memory, Memory::allocate(host.bytes));
  } else {
    ANYNPU_ASSIGN(host.memory, borrow_or_allocate(given, host.bytes, "weight", nullptr));
  }
  std::vector<std::shared_ptr<LoadedModel>> models;
  for (std::unique_ptr<Impl>& impl : made) {
    if (!impl->program) ANYNPU_TRY(impl->plan.fill_weights());
  }
  for (std::unique_ptr<Impl>& impl : made) {
    if (!impl->program) ANYNPU_TRY(impl->finish(options));
    models.push_back(std::shared_ptr<LoadedModel>(new LoadedModel(std::move(impl))));
  }
  weights.close();
  return models;
}

Result<std::shared_ptr<LoadedModel>> LoadedModel::load(const graph::Graph& graph,
                                                       const LoadOptions& options) {
  WeightPool weights;
  ANYNPU_ASSIGN(const auto models, load_all({&graph, 1}, weights, options));
  return models[0];
}

Result<std::shared_ptr<LoadedModel>> LoadedModel::load_without_work(const graph::Graph& graph,
                                                                    const LoadOptions& options) {
  WeightPool weights;
  weights.open();
  ANYNPU_ASSIGN(auto impl, prepare(graph, weights, options));
  WeightChunk& chunk = *weights.chunk(WeightSide::host);
  ANYNPU_ASSIGN(chunk.memory, Memory::allocate(chunk.bytes));
  if (options.device) {
    WeightChunk& on_device = *weights.chunk(WeightSide::device);
    ANYNPU_ASSIGN(on_device.memory, Memory::allocate_on(*options.device, on_device.bytes));
  }
  if (!impl->program) {
    ANYNPU_TRY(impl->plan.fill_weights());
    impl->settle(options);
    if (impl->plan.work_bytes == 0) {
      ANYNPU_ASSIGN(auto runner, impl->make_runner(Memory{}));
      impl->runners.give(std::move(runner));
    }
  }
  weights.close();
  return std::shared_ptr<LoadedModel>(new LoadedModel(std::move(impl)));
}

Result<std::shared_ptr<LoadedModel>> LoadedModel::load(std::shared_ptr<const om::Model> model,
                                                       const LoadOptions& options) {
  return load(model->graph, options);
}

Result<Sizes> LoadedModel::query_all(std::span<const graph::Graph> graphs, WeightPool& weights,
                                     const ops::Target& target) {
  weights.open();
  Sizes sizes;
  for (const graph::Graph& graph : graphs) {
    ANYNPU_ASSIGN(const auto dynamic, dynamic_graph(graph));
    if (dynamic) return memory_unknown(graph);
    ANYNPU_ASSIGN(const Plan plan, make_plan(graph, target, weights));
    if (!plan.memory_known) return memory_unknown(graph);
    sizes.work_bytes = std::max(sizes.work_bytes, plan.work_bytes);
  }
  sizes.weight_bytes = weights.chunk(weights_of(target))->bytes;
  weights.close();
  return sizes;
}

Result<Sizes> LoadedModel::query(const graph::Graph& graph, const ops::Target& target) {
  WeightPool weights;
  return query_all({&graph, 1}, weights, target);
}

const std::vector<TensorInfo>& LoadedModel::inputs() const { return impl_->inputs; }
const std::vector<TensorInfo>& LoadedModel::outputs() const { return impl_->outputs; }
namespace {

// Adds what a model uses to the sum of several that take turns and share weights.
void add_sizes(const Plan& plan, const StepProgram* program, std::set<const WeightChunk*>& counted,
               Sizes& total) {
  const Sizes inside = program ? program->sizes() : Sizes{0, plan.work_bytes};
  total.weight_bytes += inside.weight_bytes;
  for (const auto& chunk : plan.chunks) {
    if ((chunk->side == WeightSide::device) != plan.on_device) continue;  // of fallback steps
    if (counted.insert(chunk.get()).second) total.weight_bytes += chunk->bytes;
  }
  total.work_bytes = std::max(total.work_bytes, inside.work_bytes);
}

}  // namespace

Sizes LoadedModel::sizes() const {
  Sizes own;
  std::set<const WeightChunk*> counted;
  add_sizes(impl_->plan, impl_->program.get(), counted, own);
  return own;
}

Sizes LoadedModel::sizes_of(std::span<const std::shared_ptr<LoadedModel>> models) {
  Sizes total;
  std::set<const WeightChunk*> counted;
  for (const auto& model : models) {
    add_sizes(model->impl_->plan, model->impl_->program.get(), counted, total);
  }
  return total;
}
Status LoadedModel::check_work(Buffer work) const { return impl_->check_work(work); }
bool LoadedModel::has_loops() const { return impl_->loops; }
bool LoadedModel::only_enqueues() const { return impl_->only_enqueues; }

std::vector<StepInfo> LoadedModel::steps() const {
  if (impl_->program) return impl_->program->steps();
  std::vector<StepInfo> infos;
  for (const PlanStep& step : impl_->plan.steps)
    infos.push_back({step.name, step.kernel, step.work ? step.work->workspace_bytes : 0});
  return infos;
}

Status LoadedModel::run(std::span<const Buffer> in, std::span<const Buffer> out,
                        std::vector<Shape>* shapes, Buffer work, device::Queue* queue) {
  if (impl_->device) [[unlikely]]
    return launch({in, out, nullptr, shapes, work}, queue);
  return impl_->run({in, out, nullptr, shapes, work});
}

Status LoadedModel::run_timed(std::span<const Buffer> in, std::span<const Buffer> out,
                              std::vector<uint64_t>& step_ns) {
  step_ns.assign(impl_->plan.steps.size(), 0);
  if (impl_->device) return launch({in, out, step_ns.data()}, nullptr);
  return impl_->run({in, out, step_ns.data()});
}

Status LoadedModel::launch(const Run& given, device::Queue* queue) {
  if (queue) return impl_->launch(given, *queue, shared_from_this());
  auto own = std::make_unique<std::shared_ptr<device::Queue>>(impl_->take_queue());
  Status status = impl_->launch(given, **own, shared_from_this());
  Status done = (**own).drain();
  impl_->queues.give(std::move(own));
  return status.ok() ? done : status;
}

void LoadOptions::run_on(const std::shared_ptr<device::Device>& on) {
  target = target_of(*on);
  device = on->has_own_kernels() ? on : nullptr;
}

ops::Target target_of(const device::Device& device) {
  return {.backend = device.capabilities().kernels, .threads = device.threads()};
}

const device::Device* plan_owner(const device::Device& device) {
  return device.has_own_kernels() ? &device : nullptr;
}

}  // namespace anynpu::exec
