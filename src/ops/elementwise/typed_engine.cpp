// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/typed_engine.h"

#include <algorithm>
#include <cstring>

#include "ops/blocked_layout.h"
#include "ops/parallel.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::elementwise {

namespace {

constexpr int64_t kPiece = 1024;      // elements of one call of a loop
constexpr size_t kMostInputs = 3;     // of an operator that does not fold
constexpr size_t kWidestElement = 8;  // bytes

}  // namespace

Source source_of(const Operand& operand, const Shape& out) {
  Source s;
  s.type = operand.dtype;
  s.bytes = size_of(s.type);
  s.widens = carried_type(s.type) != s.type;
  const int64_t count = element_count(operand.shape);
  s.dense = count == element_count(out);
  s.single = count == 1;
  const auto strides = strides_of(operand.shape);
  const size_t lead = out.size() - operand.shape.size();
  for (size_t d = 0; d < out.size(); ++d) {
    if (out[d] == 1) continue;
    const int64_t step = d < lead || operand.shape[d - lead] == 1 ? 0 : strides[d - lead];
    if (!s.extent.empty() && s.stride.back() == step * out[d]) {
      s.extent.back() *= out[d];
      s.stride.back() = step;
    } else {
      s.extent.push_back(out[d]);
      s.stride.push_back(step);
    }
  }
  while (s.extent.size() < 2) {
    s.extent.insert(s.extent.begin(), 1);
    s.stride.insert(s.stride.begin(), 0);
  }
  s.rows = s.extent[s.extent.size() - 2];
  s.inner = s.extent.back();
  return s;
}

namespace {

// Elements [at, at + count) of the output's order.
template <typename U>
void lay_out(const Source& s, const U* base, int64_t at, U* out, int64_t count) {
  const size_t last = s.extent.size() - 1;
  const int64_t row_step = s.stride[last - 1];
  while (count > 0) {
    int64_t column = at % s.inner, row = at / s.inner, index = row / s.rows, offset = 0;
    row %= s.rows;
    for (size_t d = last - 1; d-- > 0;) {
      offset += index % s.extent[d] * s.stride[d];
      index /= s.extent[d];
    }
    offset += row * row_step;
    for (; row < s.rows && count > 0; ++row, offset += row_step, column = 0) {
      const int64_t run = std::min(count, s.inner - column);
      if (s.stride[last] == 0) {
        std::fill_n(out, run, base[offset]);
      } else {
        std::copy_n(base + offset + column, run, out);
      }
      out += run, at += run, count -= run;
    }
  }
}

}  // namespace

void lay_out_bytes(const Source& s, const std::byte* base, int64_t at, std::byte* out,
                   int64_t count) {
  const auto as = [&](auto zero) {
    using U = decltype(zero);
    lay_out(s, reinterpret_cast<const U*>(base), at, reinterpret_cast<U*>(out), count);
  };
  switch (s.bytes) {
    case 1:
      return as(uint8_t{});
    case 2:
      return as(uint16_t{});
    case 4:
      return as(uint32_t{});
    default:
      return as(uint64_t{});
  }
}

namespace {

struct PieceBuffer {
  alignas(kBufferAlignment) std::byte bytes[static_cast<size_t>(kPiece) * kWidestElement];
};

// The address of elements [at, at + count) of a source: in the input itself, or in `place`.
const std::byte* piece_of(const Source& s, const std::byte* base, int64_t at, int64_t count,
                          PieceBuffer& place) {
  const std::byte* from = base + static_cast<size_t>(at) * s.bytes;
  if (s.dense && !s.widens) return from;
  if (!s.widens) {
    lay_out_bytes(s, base, at, place.bytes, count);
    return place.bytes;
  }
  std::byte narrow_elements[static_cast<size_t>(kPiece) * 2];
  if (!s.dense) {
    lay_out_bytes(s, base, at, narrow_elements, count);
    from = narrow_elements;
  }
  widen(s.type, from, reinterpret_cast<float*>(place.bytes), static_cast<size_t>(count));
  return place.bytes;
}

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
        return piece_of(sources[i], args.inputs[i], at, n, places[slot]);
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
