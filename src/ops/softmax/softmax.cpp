// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax. Up to opset 12 the tensor is seen as a matrix, flattened at `axis`
// (default 1), and rows are normalised; from opset 13 one axis (default -1) is.
#include <algorithm>
#include <cmath>

#include "base/align.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/simd/rows.h"
#include "ops/widen.h"
#include "tensor/element.h"

namespace anynpu::ops::softmax {

namespace {

Result<int64_t> axis_of(const OpContext& context) {
  const int64_t rank = context.inputs[0].rank();
  const int64_t axis = context.int_attr("axis");
  // A scalar has one row of one element; the old form also takes axis = rank.
  const int64_t most = context.schema->since < 13 ? rank : std::max<int64_t>(rank - 1, 0);
  if (axis < -std::max<int64_t>(rank, 1) || axis > most) {
    return fail(Code::invalid_argument, "{}: axis is {}, expected -{} to {} for input {}",
                context.label(), axis, rank, most, to_string(context.inputs[0].shape));
  }
  return axis < 0 ? std::max<int64_t>(axis + rank, 0) : axis;
}

Status softmax_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  ANYNPU_TRY(axis_of(context).status());
  context.outputs[0].shape = x.shape;
  context.outputs[0].has_shape = true;
  return {};
}

// One row: `length` elements `step` apart. Subtracting the maximum keeps exp in range.
template <typename T, bool log>
void row(const T* x, T* y, int64_t length, int64_t step) {
  using Wide = typename Element<T>::Wide;
  Wide top = Element<T>::load(x[0]);
  for (int64_t i = 1; i < length; ++i) top = std::max(top, Element<T>::load(x[i * step]));
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const Wide value = std::exp(Element<T>::load(x[i * step]) - top);
    sum += static_cast<double>(value);
    // Rounding the stored term to a short type first would cost accuracy: only where it is exact.
    if constexpr (!log && std::is_same_v<T, Wide>) y[i * step] = value;
  }
  for (int64_t i = 0; i < length; ++i) {
    if constexpr (!log && std::is_same_v<T, Wide>) {
      y[i * step] = static_cast<T>(static_cast<double>(y[i * step]) / sum);
    } else {
      const Wide shifted = Element<T>::load(x[i * step]) - top;
      y[i * step] = Element<T>::store(log ? shifted - static_cast<Wide>(std::log(sum))
                                          : static_cast<Wide>(std::exp(shifted) / sum));
    }
  }
}

struct SoftmaxRows {
  int64_t outer = 1, length = 1, step = 1;
};

Result<SoftmaxRows> softmax_rows_of(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis, axis_of(context));
  const bool flattened = context.schema->since < 13;
  SoftmaxRows rows;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    int64_t& part = i < axis ? rows.outer : (i == axis || flattened ? rows.length : rows.step);
    part *= shape[static_cast<size_t>(i)];
  }
  if (rows.length == 0) rows.outer = 0;
  return rows;
}

template <bool log>
PlanResult plan_softmax(const OpContext& context) {
  ANYNPU_ASSIGN(const SoftmaxRows rows, softmax_rows_of(context));
  const int64_t outer = rows.outer, length = rows.length, step = rows.step;
  std::unique_ptr<KernelPlan> plan;
  visit_floats(context.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    plan = make_plan([=](const RunArgs& args) {
      const auto least =
          static_cast<size_t>(std::max<int64_t>(1, 1024 / std::max<int64_t>(1, length)));
      parallel(static_cast<size_t>(outer * step), least, [&](size_t begin, size_t end) {
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          const int64_t offset = i / step * length * step + i % step;
          row<T, log>(input_of<T>(args, 0) + offset, output_of<T>(args, 0) + offset, length, step);
        }
      });
    });
  });
  if (!plan) return no_kernel_for(context);
  plan->in_place_input = 0;
  return plan;
}

template <Isa isa>
Status can_run_softmax_rows(const OpContext& context) {
  return check_isa(isa);
}

constexpr int64_t kColumns = 64;   // of a call
constexpr int64_t kShortRow = 32;  // rows up to this long are turned into columns

using Columns = void (*)(const float* x, float* y, int64_t length, int64_t step, int64_t count);

// Up to kColumns rows of at most kShortRow elements: alone, each would fill a register badly.
void turned(Columns columns, const float* x, float* y, int64_t length, int64_t count) {
  float cells[kShortRow * kColumns];
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t i = 0; i < length; ++i) cells[i * kColumns + row] = x[row * length + i];
  }
  columns(cells, cells, length, kColumns, count);
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t i = 0; i < length; ++i) y[row * length + i] = cells[i * kColumns + row];
  }
}

// Contiguous elements of a row, or adjacent columns of them.
template <Isa isa>
PlanResult plan_softmax_rows(const OpContext& context) {
  ANYNPU_ASSIGN(const SoftmaxRows rows, softmax_rows_of(context));
  const bool log = context.schema->name == "LogSoftmax";
  const RowSet& set = row_set(isa);
  const Columns columns = log ? set.log_softmax_columns : set.softmax_columns;
  // A piece: columns, short rows, or one row.
  const bool by_row = rows.step == 1, is_short = by_row && rows.length <= kShortRow;
  const int64_t neighbours = by_row ? rows.outer : rows.step;
  const int64_t width = by_row && !is_short ? 1 : kColumns;
  const int64_t pieces = ceil_div(neighbours, width), planes = by_row ? 1 : rows.outer;
  const auto least = static_cast<size_t>(2048 / (rows.length * std::min(neighbours, width) + 1));
  auto plan = make_plan([=, &set](const RunArgs& args) {
    parallel(static_cast<size_t>(planes * pieces), least, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t first = i % pieces * width, count = std::min(width, neighbours - first);
        const int64_t at =
            by_row ? first * rows.length : i / pieces * rows.length * rows.step + first;
        const float* x = input_of<float>(args, 0) + at;
        float* y = output_of<float>(args, 0) + at;
        if (!by_row) {
          columns(x, y, rows.length, rows.step, count);
        } else if (is_short) {
          turned(columns, x, y, rows.length, count);
        } else if (log) {
          set.log_softmax(x, y, rows.length);
        } else {
          set.softmax(x, nullptr, 1, y, rows.length);
        }
      }
    });
  });
  plan->in_place_input = 0;
  return plan;
}

}  // namespace

void register_family(Registry& registry) {
  for (std::string_view name : {"Softmax", "LogSoftmax"}) {
    OpSchema schema{.name = name,
                    .since = 1,
                    .inputs = {{"input", "T"}},
                    .outputs = {{"output", "T"}},
                    .types = {{"T", kFloats}},
                    .attrs = {{"axis", AttrKind::i, int64_t{1}}},
                    .traits = OpTraits::linear(),
                    .shape = softmax_rule};
    registry.add(schema);
    schema.since = 13;
    schema.attrs = {{"axis", AttrKind::i, int64_t{-1}}};
    registry.add(schema);
  }
  for (std::string_view name : {"Softmax", "LogSoftmax"}) {
    registry.add_kernels(
        name, {// Rows, or 64 neighbouring columns at a time, by the widest registers there are.
               {"softmax_avx512",
                {DType::f32},
                can_run_softmax_rows<Isa::avx512>,
                create_plain<plan_softmax_rows<Isa::avx512>>},
               {"softmax_avx2",
                {DType::f32},
                can_run_softmax_rows<Isa::avx2>,
                create_plain<plan_softmax_rows<Isa::avx2>>},
               {"softmax_baseline",
                {DType::f32},
                can_run_softmax_rows<Isa::baseline>,
                create_plain<plan_softmax_rows<Isa::baseline>>},
               // Short floats through the float32 kernels above.
               {"widened", kShortFloats, can_run_widened, create_widened},
               // Everything, in double: the oracle of the tests.
               {"softmax_reference", kFloats, nullptr,
                name == "Softmax" ? create_plain<plan_softmax<false>>
                                  : create_plain<plan_softmax<true>>}});
  }
}

}  // namespace anynpu::ops::softmax
