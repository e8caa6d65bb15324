// SPDX-License-Identifier: Apache-2.0
// DFT and STFT by their definition: sums of products with roots of unity, in double.
#include <algorithm>
#include <cmath>

#include "ops/block/wide.h"
#include "ops/families.h"
#include "ops/late.h"
#include "ops/move/axes.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/signal/signal.h"

namespace anynpu::ops {

namespace {

struct Complex {
  double re = 0, im = 0;
};

// Bin `k` of `length` points; at(i) gives point i.
template <typename At>
Complex bin(int64_t k, int64_t length, bool inverse, const At& at) {
  Complex sum;
  for (int64_t i = 0; i < length; ++i) {
    // k * i modulo the length keeps the angle small, so that it stays exact.
    const auto turn = static_cast<double>(k * i % length) / static_cast<double>(length);
    const double angle = (inverse ? 2 : -2) * M_PI * turn;
    const Complex x = at(i);
    sum.re += x.re * std::cos(angle) - x.im * std::sin(angle);
    sum.im += x.re * std::sin(angle) + x.im * std::cos(angle);
  }
  if (inverse) sum.re /= static_cast<double>(length), sum.im /= static_cast<double>(length);
  return sum;
}

struct Setup {
  bool known = true;
  bool to_real = false;  // an inverse transform of half a spectrum, whose other half is its mirror
  int64_t axis = 0, length = 0, bins = 0;
};

Result<Setup> setup_of(const OpContext& context) {
  const Operand& x = context.inputs[0];
  Setup s;
  int64_t axis = context.schema->since >= 20 ? -2 : context.int_attr("axis");
  if (context.has_input(2)) {
    const IntegerList list = integers_of(context.inputs[2]);
    s.known = list.known && list.values.size() == 1;
    if (!s.known) return s;
    axis = list.values[0];
  }
  ANYNPU_ASSIGN(s.axis, normal_axis(context, axis, x.rank()));
  if (x.rank() < 2 || s.axis == x.rank() - 1 || (x.shape.back() != 1 && x.shape.back() != 2)) {
    return fail(Code::shape_mismatch,
                "{}: input {} along axis {}, expected 1 or 2 numbers per point in the last one",
                context.label(), to_string(x.shape), s.axis);
  }
  const bool onesided = context.int_attr("onesided") != 0;
  s.to_real = onesided && context.int_attr("inverse") != 0;
  s.length = x.shape[static_cast<size_t>(s.axis)];
  if (s.to_real) s.length = 2 * (s.length - 1);
  if (context.has_input(1)) {
    const IntegerList list = integers_of(context.inputs[1]);
    s.known = list.known && list.values.size() == 1;
    if (!s.known) return s;
    s.length = list.values[0];
  }
  if (s.length < 1 || s.length > (int64_t{1} << 24)) {
    return fail(Code::invalid_argument, "{}: dft_length is {}, expected 1 or more", context.label(),
                s.length);
  }
  s.bins = onesided && !s.to_real ? s.length / 2 + 1 : s.length;
  return s;
}

Status dft_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known()) return {};
  ANYNPU_ASSIGN(const Setup s, setup_of(context));
  if (!s.known) return {};
  Shape shape = x.shape;
  shape[static_cast<size_t>(s.axis)] = s.bins;
  shape.back() = s.to_real ? 1 : 2;
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_dft(const OpContext& context) {
  ANYNPU_ASSIGN(const Setup s, setup_of(context));
  const Shape& x = context.inputs[0].shape;
  const int64_t parts = x.back(), extent = x[static_cast<size_t>(s.axis)];
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()) - 1; ++i) {
    if (i != s.axis) (i < s.axis ? outer : inner) *= x[static_cast<size_t>(i)];
  }
  const bool inverse = context.int_attr("inverse") != 0;
  const DType type = context.inputs[0].dtype;
  const auto store = store_block<double>(type);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(outer * s.bins * inner), 4, [&](size_t begin, size_t end) {
      for (auto o = static_cast<int64_t>(begin); o < static_cast<int64_t>(end); ++o) {
        const int64_t k = o / inner % s.bins, row = o / (inner * s.bins);
        const Complex value = bin(k, s.length, inverse, [&](int64_t i) -> Complex {
          const bool mirrored = s.to_real && i > s.length / 2;
          const int64_t from = mirrored ? s.length - i : i;
          if (from >= extent) return {};  // a longer transform continues with zeros
          const int64_t at = ((row * extent + from) * inner + o % inner) * parts;
          const double imaginary = parts == 2 ? load_one<double>(type, args.inputs[0], at + 1) : 0;
          return {load_one<double>(type, args.inputs[0], at), mirrored ? -imaginary : imaginary};
        });
        const double both[2] = {value.re, value.im};
        const int64_t stored = s.to_real ? 1 : 2;
        store(args.outputs[0], o * stored, both, stored);
      }
    });
  });
}

struct Frames {
  bool known = true;
  int64_t step = 0, length = 0, count = 0, bins = 0;
};

Result<Frames> frames_of(const OpContext& context) {
  const Operand& x = context.inputs[0];
  Frames f;
  const IntegerList step = integers_of(context.inputs[1]);
  const IntegerList length = context.has_input(3) ? integers_of(context.inputs[3]) : IntegerList{};
  f.known = step.known && (!length.present || length.known);
  if (!f.known) return f;
  const int64_t window = context.has_input(2) ? element_count(context.inputs[2].shape) : 0;
  f.step = step.values.size() == 1 ? step.values[0] : 0;
  f.length = length.values.size() == 1 ? length.values[0] : window;
  if (x.rank() < 2 || x.rank() > 3 || f.step < 1 || f.length < 1 || f.length > x.shape[1] ||
      (window != 0 && window != f.length) ||
      (x.rank() == 3 && x.shape[2] != 1 && x.shape[2] != 2)) {
    return fail(Code::invalid_argument,
                "{}: signal {} with frames of {} every {} and a window of {}", context.label(),
                to_string(x.shape), f.length, f.step, window);
  }
  f.count = (x.shape[1] - f.length) / f.step + 1;
  f.bins = context.int_attr("onesided") != 0 ? f.length / 2 + 1 : f.length;
  return f;
}

Status stft_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known() || (context.has_input(2) && !context.inputs[2].fully_known())) return {};
  ANYNPU_ASSIGN(const Frames f, frames_of(context));
  if (!f.known) return {};
  return set_output(context, 0, x.dtype, {x.shape[0], f.count, f.bins, 2});
}

PlanResult plan_stft(const OpContext& context) {
  ANYNPU_ASSIGN(const Frames f, frames_of(context));
  const Shape& x = context.inputs[0].shape;
  const int64_t parts = x.size() == 3 ? x[2] : 1, points = x[1], batch = x[0];
  const bool windowed = context.has_input(2);
  const DType type = context.inputs[0].dtype;
  const auto store = store_block<double>(type);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(batch * f.count * f.bins), 4, [&](size_t begin, size_t end) {
      for (auto o = static_cast<int64_t>(begin); o < static_cast<int64_t>(end); ++o) {
        const int64_t frame = o / f.bins % f.count, row = o / (f.bins * f.count);
        const Complex value = bin(o % f.bins, f.length, false, [&](int64_t i) -> Complex {
          const int64_t at = (row * points + frame * f.step + i) * parts;
          const double w = windowed ? load_one<double>(type, args.inputs[2], i) : 1;
          return {w * load_one<double>(type, args.inputs[0], at),
                  parts == 2 ? w * load_one<double>(type, args.inputs[0], at + 1) : 0};
        });
        const double both[2] = {value.re, value.im};
        store(args.outputs[0], o * 2, both, 2);
      }
    });
  });
}

}  // namespace

void register_fourier(Registry& registry) {
  const AttrSchema inverse{"inverse", AttrKind::i, int64_t{0}},
      onesided{"onesided", AttrKind::i, int64_t{0}};
  constexpr DTypeSet kWhole{DType::i32, DType::i64};
  OpSchema schema{.name = "DFT",
                  .since = 17,
                  .inputs = {{"input", "T"}, {"dft_length", "I", Presence::optional}},
                  .outputs = {{"output", "T"}},
                  .types = {{"T", kFloats}, {"I", kWhole}},
                  .attrs = {inverse, onesided, {"axis", AttrKind::i, int64_t{1}}},
                  .shape = dft_rule};
  registry.add(schema);
  schema.since = 20;
  schema.inputs.push_back({"axis", "J", Presence::optional});
  schema.types.push_back({"J", {DType::i64}});
  schema.attrs = {inverse, onesided};
  registry.add(schema);
  registry.add(OpSchema{.name = "STFT",
                        .since = 17,
                        .inputs = {{"signal", "T"},
                                   {"frame_step", "I"},
                                   {"window", "T", Presence::optional},
                                   {"frame_length", "I", Presence::optional}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kFloats}, {"I", kWhole}},
                        .attrs = {{"onesided", AttrKind::i, int64_t{1}}},
                        .shape = stft_rule});
  registry.add(KernelDef{
      .op = "DFT", .name = "reference", .types = kFloats, .create = create_late<plan_dft, 0b110>});
  registry.add(KernelDef{.op = "STFT",
                         .name = "reference",
                         .types = kFloats,
                         .create = create_late<plan_stft, 0b1010>});
}

void register_signal(Registry& registry) {
  register_fourier(registry);
  register_windows(registry);
  register_mel(registry);
  register_tf_idf(registry);
}

}  // namespace anynpu::ops
