// SPDX-License-Identifier: Apache-2.0
// TiledElementwise (domain anynpu): element-wise operators behind each other, tile by tile. The
// attribute `body` is a graph of them, all results of which have one shape. Each operator runs its
// own kernel on a tile of some elements; what passes between them stays in the first-level cache.
#include <algorithm>
#include <atomic>
#include <map>

#include "base/align.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/pieces.h"
#include "ops/elementwise/typed_engine.h"
#include "ops/parallel.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace {

constexpr int64_t kTile = 1024;  // elements
constexpr int64_t kTilesOfTask = 8;
constexpr size_t kMostOperands = 8;  // of an operator of the body

Result<std::shared_ptr<const graph::Graph>> body_of(const OpContext& context) {
  const auto found = context.node->attrs.find("body");
  if (found != context.node->attrs.end()) {
    if (const auto* body = std::get_if<std::shared_ptr<const graph::Graph>>(&found->second)) {
      const bool fits = *body && (*body)->inputs.size() == context.inputs.size() &&
                        (*body)->outputs.size() == context.outputs.size();
      if (fits) return *body;
    }
  }
  return fail(Code::invalid_argument,
              "{}: the attribute body is no graph of {} inputs and {} outputs", context.label(),
              context.inputs.size(), context.outputs.size());
}

Status fused_rule(OpContext& context) {
  ANYNPU_ASSIGN(const auto body, body_of(context));
  for (size_t i = 0; i < context.outputs.size(); ++i)
    context.outputs[i] = Operand::of(*body, body->outputs[i]);
  return {};
}

// Where the elements of a value are while a tile runs.
struct ValueLocation {
  enum class In : uint8_t { dense, single, laid_out, output, scratch } in = In::scratch;
  size_t number = 0;  // of the operator's input or output
  size_t at = 0;      // in the scratch: of scratch and laid_out
  size_t bytes = 1;   // of an element
};

struct TileStep {
  std::unique_ptr<KernelPlan> whole, rest;  // of kTile elements, and of the last tile
  std::vector<int> inputs;                  // locations; -1: left out
  int output = 0;
};

class FusedPlan final : public KernelPlan {
 public:
  std::vector<ValueLocation> locations;  // by value of the body
  std::vector<Source> sources;           // by input
  std::vector<TileStep> steps;
  std::vector<int> laid_out;  // locations that are filled before the steps
  int64_t count = 0;
  size_t threads = 1, kernel_scratch = 0;  // where the workspace of a kernel begins

  Status run(const RunArgs& args) const override {
    const int64_t tiles = ceil_div(count, kTile);
    const auto tasks = static_cast<size_t>(ceil_div(tiles, kTilesOfTask));
    Status failure;
    std::atomic<bool> failed{false};
    parallel_slots(threads, tasks, [&](size_t task, size_t slot) {
      std::byte* scratch = thread_scratch(args, slot);
      const int64_t first = static_cast<int64_t>(task) * kTilesOfTask;
      for (int64_t tile = first; tile < std::min(tiles, first + kTilesOfTask); ++tile) {
        Status status = run_tile(args, scratch, tile * kTile);
        if (!status.ok() && !failed.exchange(true)) failure = std::move(status);
      }
    });
    return failure;
  }

 private:
  std::byte* address(const ValueLocation& location, const RunArgs& args, std::byte* scratch,
                     int64_t at) const {
    switch (location.in) {
      case ValueLocation::In::dense:
        return const_cast<std::byte*>(args.inputs[location.number]) +
               static_cast<size_t>(at) * location.bytes;
      case ValueLocation::In::single:
        return const_cast<std::byte*>(args.inputs[location.number]);
      case ValueLocation::In::output:
        return args.outputs[location.number] + static_cast<size_t>(at) * location.bytes;
      default:
        return scratch + location.at;
    }
  }

  Status run_tile(const RunArgs& args, std::byte* scratch, int64_t at) const {
    const int64_t length = std::min(kTile, count - at);
    for (int number : laid_out) {
      const ValueLocation& location = locations[static_cast<size_t>(number)];
      lay_out_bytes(sources[location.number], args.inputs[location.number], at,
                    scratch + location.at, length);
    }
    for (const TileStep& step : steps) {
      const std::byte* in[kMostOperands] = {};
      for (size_t i = 0; i < step.inputs.size(); ++i) {
        if (step.inputs[i] < 0) continue;
        in[i] = address(locations[static_cast<size_t>(step.inputs[i])], args, scratch, at);
      }
      std::byte* out = address(locations[static_cast<size_t>(step.output)], args, scratch, at);
      const KernelPlan& plan = length == kTile ? *step.whole : *step.rest;
      ANYNPU_TRY(
          plan.run({{in, step.inputs.size()}, {&out, 1}, nullptr, scratch + kernel_scratch}));
    }
    return {};
  }
};

// The plan of one operator for tiles of `length` elements.
PlanResult plan_step(const OpContext& context, const graph::Graph& body, const graph::Node& node,
                     const std::vector<ValueLocation>& locations, int64_t length) {
  std::vector<Operand> operands;
  for (graph::ValueId id : node.inputs) {
    if (id == graph::kNoValue) {
      operands.push_back(Operand::absent());
      continue;
    }
    const ValueLocation& location = locations[static_cast<size_t>(id)];
    const bool single = location.in == ValueLocation::In::single;
    operands.push_back(
        Operand::of(body.values[static_cast<size_t>(id)].dtype, single ? Shape{} : Shape{length}));
    const Operand* outer = single ? &context.inputs[location.number] : nullptr;
    if (!outer || !outer->is_constant) continue;
    operands.back().is_constant = true;
    operands.back().constant = outer->constant;
  }
  Target alone = context.target;
  alone.threads = 1;
  ANYNPU_ASSIGN(const OpContext inner, infer(node, std::move(operands), alone));
  if (inner.outputs.size() != 1 || inner.outputs[0].shape != Shape{length} ||
      inner.inputs.size() > kMostOperands) {
    return fail(Code::unsupported_op, "{}: {} is not element by element", context.label(), node.op);
  }
  ANYNPU_ASSIGN(const KernelDef* def, choose_kernel(inner));
  ANYNPU_ASSIGN(const auto kernel, def->create(inner));
  if (kernel->packed_bytes() > 0)
    return fail(Code::unsupported_op, "{}: {} packs a constant", context.label(), node.op);
  ANYNPU_ASSIGN(auto plan, kernel->plan(inner));
  const auto is_plain = [](Layout layout) { return layout == Layout::plain; };
  if (!std::ranges::all_of(plan->input_layouts, is_plain) ||
      !std::ranges::all_of(plan->output_layouts, is_plain))
    return fail(Code::unsupported_op, "{}: {} wants a layout", context.label(), node.op);
  return plan;
}

// Gives values that live at different times the same scratch.
class ScratchPool {
 public:
  size_t take(size_t bytes) {
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->second != bytes) continue;
      const size_t found = at->first;
      free_.erase(at);
      return found;
    }
    const size_t made = size_;
    size_ += bytes;
    return made;
  }
  void give(size_t at, size_t bytes) { free_.emplace_back(at, bytes); }
  size_t size() const { return size_; }

 private:
  std::vector<std::pair<size_t, size_t>> free_;
  size_t size_ = 0;
};

size_t tile_bytes(const ValueLocation& location) {
  return round_up(static_cast<size_t>(kTile) * location.bytes, kBufferAlignment);
}

// Places of the inputs and outputs of the body.
void place_operands(FusedPlan& plan, const graph::Graph& body, ScratchPool& pool) {
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const auto id = static_cast<size_t>(body.inputs[i]);
    ValueLocation& location = plan.locations[id];
    location.number = i;
    location.in = plan.sources[i].dense    ? ValueLocation::In::dense
                  : plan.sources[i].single ? ValueLocation::In::single
                                           : ValueLocation::In::laid_out;
    if (location.in != ValueLocation::In::laid_out) continue;
    location.at = pool.take(tile_bytes(location));
    plan.laid_out.push_back(static_cast<int>(id));
  }
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    ValueLocation& location = plan.locations[static_cast<size_t>(body.outputs[i])];
    location.in = ValueLocation::In::output;
    location.number = i;
  }
}

// Scratch for what passes between the steps.
void place_passing(FusedPlan& plan, const graph::Graph& body, ScratchPool& pool) {
  std::map<int, size_t> last;  // step that reads a value
  for (size_t n = 0; n < body.nodes.size(); ++n) {
    for (graph::ValueId id : body.nodes[n].inputs) last[id] = n;
  }
  for (size_t n = 0; n < body.nodes.size(); ++n) {
    ValueLocation& out = plan.locations[static_cast<size_t>(body.nodes[n].outputs[0])];
    if (out.in == ValueLocation::In::scratch) out.at = pool.take(tile_bytes(out));
    for (const auto& [id, step] : last) {
      const ValueLocation& location = plan.locations[static_cast<size_t>(id)];
      if (step == n && location.in == ValueLocation::In::scratch)
        pool.give(location.at, tile_bytes(location));
    }
  }
}

PlanResult plan_fused(const OpContext& context) {
  ANYNPU_ASSIGN(const auto body, body_of(context));
  const Shape& shape = context.outputs[0].shape;
  auto plan = std::make_unique<FusedPlan>();
  plan->count = element_count(shape);
  plan->threads = context.target.threads;
  plan->locations.resize(body->values.size());
  for (size_t i = 0; i < body->values.size(); ++i) {
    plan->locations[i].bytes = size_of(body->values[i].dtype);
    if (plan->locations[i].bytes == 0 || plan->locations[i].bytes > 8) {
      return fail(Code::unsupported_dtype, "{}: elements of {}", context.label(),
                  name_of(body->values[i].dtype));
    }
  }
  for (const Operand& input : context.inputs) plan->sources.push_back(source_of(input, shape));
  ScratchPool pool;
  place_operands(*plan, *body, pool);
  place_passing(*plan, *body, pool);
  plan->kernel_scratch = pool.size();
  size_t workspace = 0;
  const int64_t rest = plan->count % kTile;
  for (const graph::Node& node : body->nodes) {
    TileStep step;
    const auto plan_for = [&](int64_t length) -> PlanResult {
      ANYNPU_ASSIGN(auto made, plan_step(context, *body, node, plan->locations, length));
      workspace = std::max(workspace, made->workspace_bytes);
      return made;
    };
    if (plan->count >= kTile) {
      ANYNPU_ASSIGN(step.whole, plan_for(kTile));
    }
    if (rest > 0) {
      ANYNPU_ASSIGN(step.rest, plan_for(rest));
    }
    step.inputs.assign(node.inputs.begin(), node.inputs.end());
    step.output = node.outputs[0];
    plan->steps.push_back(std::move(step));
  }
  plan->add_thread_scratch(plan->threads, plan->kernel_scratch + workspace);
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

void register_tiled(Registry& registry) {
  registry.add(OpSchema{.name = "TiledElementwise",
                        .domain = "anynpu",
                        .inputs = {{"X", "", Presence::variadic}},
                        .outputs = {{"Y", "", Presence::variadic}},
                        .attrs = {{"body", AttrKind::graph, {}, true}},
                        .traits = OpTraits::linear().with(PrecisionClass::fixed),
                        .shape = fused_rule});
  registry.add(KernelDef{.op = "TiledElementwise",
                         .name = "tiles",
                         .domain = "anynpu",
                         .types = kAnyFixed,
                         .create = create_plain<plan_fused>});
}

}  // namespace anynpu::ops::elementwise
