// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/wide_engine.h"

#include <algorithm>

#include "ops/broadcast.h"
#include "ops/parallel.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::elementwise {

namespace {

constexpr size_t kMostWideInputs = 3;  // of an operator that does not fold

// The addresses of one input's elements, in output order.
struct Walk {
  std::vector<int64_t> strides;  // per dimension of the output; 0 = repeated
  bool dense = false;            // the same order as the output
};

Walk walk_of(const Shape& shape, const Shape& out) {
  Walk walk;
  walk.dense = shape == out;
  walk.strides.assign(out.size(), 0);
  const auto strides = strides_of(shape);
  const size_t lead = out.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) walk.strides[lead + i] = strides[i];
  }
  return walk;
}

template <typename W>
void load_walk(const Walk& walk, const Shape& out, LoadBlock<W> load, const std::byte* base,
               int64_t at, W* block, int64_t count) {
  if (walk.dense || out.empty())
    return load(base, walk.dense ? at : 0, walk.dense ? 1 : 0, block, count);
  const int64_t inner = out.back(), step = walk.strides.back();
  while (count > 0) {
    const int64_t run = std::min(count, inner - at % inner);
    int64_t offset = at % inner * step, index = at / inner;
    for (size_t d = out.size() - 1; d-- > 0;) {
      offset += index % out[d] * walk.strides[d];
      index /= out[d];
    }
    load(base, offset, step, block, run);
    block += run, at += run, count -= run;
  }
}

template <typename W>
PlanResult plan_wide(const OpContext& context, const BlockOp& op, BlockFunction<W> function,
                     const Params& params) {
  const bool folds = op.folds;
  const Shape out = context.outputs[0].shape;
  std::vector<Walk> walks;
  std::vector<LoadBlock<W>> loads;
  for (const Operand& input : context.inputs) {
    if (!input.present) break;
    walks.push_back(walk_of(input.shape, out));
    loads.push_back(load_block<W>(input.dtype));
    if (!loads.back()) return no_kernel_for(context);
  }
  const StoreBlock<W> store = store_block<W>(context.outputs[0].dtype, op.rule);
  if (!function || !store || (!folds && walks.size() > kMostWideInputs))
    return no_kernel_for(context);
  const auto count = static_cast<size_t>(element_count(out));
  const size_t least = stored_in_bytes(context.outputs[0].dtype) ? 4096 : count;
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(count, least, [&](size_t begin, size_t end) {
      W blocks[kMostWideInputs][kBlockLength];
      const W* const in[kMostWideInputs] = {blocks[0], blocks[1], blocks[2]};
      for (auto at = static_cast<int64_t>(begin); at < static_cast<int64_t>(end);
           at += kBlockLength) {
        const int64_t length = std::min(kBlockLength, static_cast<int64_t>(end) - at);
        load_walk(walks[0], out, loads[0], args.inputs[0], at, blocks[0], length);
        if (folds) {
          for (size_t i = 1; i < walks.size(); ++i) {
            load_walk(walks[i], out, loads[i], args.inputs[i], at, blocks[1], length);
            function(in, blocks[0], length, params);
          }
        } else {
          for (size_t i = 1; i < walks.size(); ++i) {
            load_walk(walks[i], out, loads[i], args.inputs[i], at, blocks[i], length);
          }
          function(in, blocks[0], length, params);
        }
        store(args.outputs[0], at, blocks[0], length);
      }
    });
  });
  // A block is read whole before it is written: safe where both have the same elements.
  if (walks[0].dense && context.inputs[0].dtype == context.outputs[0].dtype)
    plan->in_place_input = 0;
  return plan;
}

}  // namespace

PlanResult plan_blocks(const OpContext& context, const BlockOp& op, WideKind kind,
                       const Params& params) {
  switch (kind) {
    case WideKind::float64:
      return plan_wide<double>(context, op, op.float64, params);
    case WideKind::int64:
      return plan_wide<int64_t>(context, op, op.int64, params);
    case WideKind::uint64:
      return plan_wide<uint64_t>(context, op, op.uint64, params);
  }
  return no_kernel_for(context);
}

Status broadcast_rule(OpContext& context, DType dtype) {
  context.outputs[0].dtype = dtype;
  Shape shape;
  for (const Operand& input : context.inputs) {
    if (!input.present) continue;
    if (!input.has_shape) return {};
    ANYNPU_ASSIGN(shape, broadcast(shape, input.shape), "{}", context.label());
  }
  return set_output(context, 0, dtype, std::move(shape));
}

}  // namespace anynpu::ops::elementwise
