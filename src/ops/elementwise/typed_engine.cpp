// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/typed_engine.h"

#include <algorithm>

#include "ops/blocked_layout.h"
#include "ops/elementwise/pieces.h"
#include "ops/parallel.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::elementwise {

namespace {

constexpr size_t kMostInputs = 3;     // of an operator that does not fold
constexpr size_t kWidestElement = 8;  // bytes

struct PieceBuffer {
  alignas(kBufferAlignment) std::byte bytes[static_cast<size_t>(kPiece) * kWidestElement];
};

}  // namespace

Status no_typed_loop(const OpContext& context) {
  return fail(Code::unsupported_dtype, "no loop of its own for {}",
              name_of(context.inputs[0].dtype));
}

PlanResult plan_typed(const OpContext& context, const TypedOp& op, const Params& params) {
  const Operand& y = context.outputs[0];
  std::vector<Source> sources;
  bool alike = op.finite && can_block(y) && element_count(y.shape) > 1, blocked = false;
  for (const Operand& input : context.inputs) {
    if (!input.present) break;
    sources.push_back(source_of(input, y.shape));
    alike = alike && (input.shape == y.shape || sources.back().single);
    blocked = blocked || (input.shape == y.shape && input.layout == Layout::blocked16);
  }
  blocked = blocked && alike;
  if (!op.loop || sources.empty() || (op.folds ? sources.size() < 2 : sources.size() > kMostInputs))
    return no_kernel_for(context);
  const Layout layout = blocked ? Layout::blocked16 : Layout::plain;
  const auto count = static_cast<size_t>(stored_elements(y.shape, layout));
  const size_t bytes = size_of(y.dtype);
  const DType to = y.dtype;
  const bool narrows = carried_type(to) != to;
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(count, 8192, [&](size_t begin, size_t end) {
      PieceBuffer places[kMostInputs];
      alignas(kBufferAlignment) float wide[kPiece];
      bool fresh = true;  // a single element is laid out once, where it has a place of its own
      const auto piece = [&](size_t i, int64_t at, int64_t n) {
        const size_t slot = std::min(i, kMostInputs - 1);
        const bool kept = sources[i].single && !sources[i].dense && sources.size() <= kMostInputs;
        if (kept && !fresh) return static_cast<const std::byte*>(places[slot].bytes);
        return piece_of(sources[i], args.inputs[i], at, n, places[slot].bytes);
      };
      for (auto at = static_cast<int64_t>(begin); at < static_cast<int64_t>(end); at += kPiece) {
        const int64_t n = std::min(kPiece, static_cast<int64_t>(end) - at);
        std::byte* into = args.outputs[0] + static_cast<size_t>(at) * bytes;
        std::byte* result = narrows ? reinterpret_cast<std::byte*>(wide) : into;
        const std::byte* in[kMostInputs] = {};
        const size_t first = op.folds ? 1 : sources.size();
        for (size_t i = 0; i < first; ++i) in[i] = piece(i, at, n);
        if (!op.folds) op.loop(in, result, n, params.data());
        for (size_t i = first; i < sources.size(); ++i) {
          in[1] = piece(i, at, n);
          op.loop(in, result, n, params.data());
          in[0] = result;
        }
        fresh = false;
        if (narrows) narrow(to, wide, into, static_cast<size_t>(n));
      }
    });
  });
  for (size_t i = 0; i < sources.size(); ++i) {
    plan->input_layouts.push_back(sources[i].dense ? layout : Layout::plain);
  }
  plan->output_layouts = {layout};
  // A piece of every input is read before that of the output is written, but for folds of more.
  for (size_t i = sources.size(); i-- > 0 && sources.size() <= kMostInputs;) {
    const bool fits = sources[i].dense && sources[i].type == to;
    if (fits && (!op.folds || sources.size() == 2)) plan->in_place_input = static_cast<int>(i);
  }
  return plan;
}

}  // namespace anynpu::ops::elementwise
