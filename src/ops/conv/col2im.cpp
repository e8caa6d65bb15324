// SPDX-License-Identifier: Apache-2.0
// Col2Im: the inverse of im2col; columns are added to the pixels they came from.
#include <algorithm>

#include "base/align.h"
#include "ops/conv/conv.h"
#include "ops/data_movement/axes.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "tensor/element.h"

namespace anynpu::ops::conv {

namespace {

struct Columns {
  bool known = true;
  std::vector<int64_t> image, block, stride, dilation, pad, steps;
};

Result<Columns> columns_of(const OpContext& context) {
  Columns g;
  const IntegerList image = integers_of(context.inputs[1]), block = integers_of(context.inputs[2]);
  g.known = image.known && block.known;
  if (!g.known) return g;
  g.image = image.values, g.block = block.values;
  const size_t dims = g.image.size();
  const auto list = [&](std::string_view key, size_t size, int64_t value) {
    return context.has_attr(key) ? context.ints_attr(key) : std::vector<int64_t>(size, value);
  };
  g.stride = list("strides", dims, 1), g.dilation = list("dilations", dims, 1);
  const auto pads = list("pads", 2 * dims, 0);
  const Shape& x = context.inputs[0].shape;
  bool fits = dims > 0 && g.block.size() == dims && g.stride.size() == dims &&
              g.dilation.size() == dims && pads.size() == 2 * dims && x.size() == 3;
  int64_t total = 1, taps = 1;
  for (size_t i = 0; fits && i < dims; ++i) {
    constexpr int64_t kMost = int64_t{1} << 24;
    for (int64_t v : {g.image[i], g.block[i], g.stride[i], g.dilation[i]})
      fits = fits && v >= 1 && v < kMost;
    for (int64_t v : {pads[i], pads[i + dims]}) fits = fits && v > -kMost && v < kMost;
    if (!fits) break;
    g.pad.push_back(pads[i]);
    g.steps.push_back(
        (g.image[i] + pads[i] + pads[i + dims] - g.dilation[i] * (g.block[i] - 1) - 1) /
            g.stride[i] +
        1);
    fits = g.steps.back() >= 1 && !__builtin_mul_overflow(total, g.steps.back(), &total) &&
           !__builtin_mul_overflow(taps, g.block[i], &taps);
  }
  if (!fits || x[2] != total || x[1] % taps != 0) {
    return fail(Code::shape_mismatch,
                "{}: input {} does not hold the columns of image {} and block {}", context.label(),
                to_string(x), g.image, g.block);
  }
  return g;
}

Status columns_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known()) return {};
  ANYNPU_ASSIGN(const Columns g, columns_of(context));
  if (!g.known) return {};
  Shape shape = {x.shape[0], x.shape[1] / element_count(g.block)};
  shape.insert(shape.end(), g.image.begin(), g.image.end());
  return set_output(context, 0, x.dtype, std::move(shape));
}

// The columns of a plane are added to its pixels, tap by tap. Integers wrap around, of bools any
// true one counts.
template <typename W>
struct ColumnSums {
  Columns g;
  int64_t planes = 0, parts = 1;
  LoadBlock<W> load = nullptr;
  StoreBlock<W> store = nullptr;
  size_t threads = 1;

  int64_t plane_elements() const { return element_count(g.image) * parts; }

  // The columns of one tap: `at` is where they begin in the input.
  void add_tap(const std::byte* input, int64_t at, int64_t tap, W* pixels) const {
    const size_t last = g.image.size() - 1;
    const int64_t rows = element_count(g.steps) / g.steps[last];
    // Along the last axis steps [from, to) touch a pixel.
    const auto offset = [&](size_t d, int64_t k) { return k * g.dilation[d] - g.pad[d]; };
    const int64_t shift = offset(last, tap % g.block[last]), stride = g.stride[last];
    const int64_t from = shift < 0 ? ceil_div(-shift, stride) : 0;
    const int64_t left = g.image[last] - 1 - shift;
    const int64_t to = left < 0 ? 0 : std::min(g.steps[last], left / stride + 1);
    for (int64_t row = 0; row < rows && from < to; ++row) {
      int64_t rest = row, k = tap / g.block[last], line = 0, place = 1;
      bool inside = true;
      for (size_t d = last; d-- > 0; rest /= g.steps[d], k /= g.block[d]) {
        const int64_t y = rest % g.steps[d] * g.stride[d] + offset(d, k % g.block[d]);
        inside = inside && y >= 0 && y < g.image[d];
        line += y * place;
        place *= g.image[d];
      }
      if (!inside) continue;
      W* y = pixels + (line * g.image[last] + shift) * parts;
      for (int64_t step = from; step < to;) {
        W values[kBlockLength];
        const int64_t count = std::min(to - step, kBlockLength / parts);
        load(input, at + (row * g.steps[last] + step) * parts, 1, values, count * parts);
        for (int64_t i = 0; i < count; ++i, ++step) {
          for (int64_t part = 0; part < parts; ++part)
            y[step * stride * parts + part] += values[i * parts + part];
        }
      }
    }
  }

  void operator()(const RunArgs& args) const {
    const int64_t taps = element_count(g.block), steps = element_count(g.steps);
    parallel_slots(threads, static_cast<size_t>(planes), [&](size_t task, size_t slot) {
      const auto plane = static_cast<int64_t>(task);
      W* pixels =
          reinterpret_cast<W*>(args.workspace) + slot * static_cast<size_t>(plane_elements());
      std::fill_n(pixels, plane_elements(), W{});
      for (int64_t tap = 0; tap < taps; ++tap)
        add_tap(args.inputs[0], (plane * taps + tap) * steps * parts, tap, pixels);
      store(args.outputs[0], plane * plane_elements(), pixels, plane_elements());
    });
  }
};

template <typename W>
PlanResult plan_sums(const OpContext& context, Columns g) {
  const Shape& out = context.outputs[0].shape;
  const DType type = context.inputs[0].dtype;
  const ColumnSums<W> sums{std::move(g),
                           out[0] * out[1],
                           parts_of(type),
                           load_block<W>(part_of(type)),
                           store_block<W>(part_of(type)),
                           context.target.threads};
  auto plan = make_plan(sums);
  plan->workspace_bytes =
      context.target.threads * static_cast<size_t>(sums.plane_elements()) * sizeof(W);
  return plan;
}

PlanResult plan_columns(const OpContext& context) {
  ANYNPU_ASSIGN(Columns g, columns_of(context));
  // Whole numbers are added without sign, which wraps around as two's complement does.
  return wide_kind(part_of(context.inputs[0].dtype)) == WideKind::float64
             ? plan_sums<double>(context, std::move(g))
             : plan_sums<uint64_t>(context, std::move(g));
}

}  // namespace

void register_col2im(Registry& registry) {
  registry.add(OpSchema{.name = "Col2Im",
                        .since = 18,
                        .inputs = {{"input", "T"}, {"image_shape", "I"}, {"block_shape", "I"}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kValues}, {"I", {DType::i64}}},
                        .attrs = {{"dilations", AttrKind::ints},
                                  {"pads", AttrKind::ints},
                                  {"strides", AttrKind::ints}},
                        .traits = OpTraits::general().with(SizedBy::parameters),
                        .shape = columns_rule});
  registry.add(KernelDef{.op = "Col2Im",
                         .name = "reference",
                         .types = kValues,
                         .create = create_with_runtime_params<plan_columns, 6>});
}

}  // namespace anynpu::ops::conv
