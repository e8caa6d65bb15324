// SPDX-License-Identifier: Apache-2.0
// DFT and STFT: by their definition, sums of products with roots of unity, and by the fast Fourier
// transform; both in double.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "ops/data_movement/axes.h"
#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/signal/fft.h"
#include "ops/signal/signal.h"

namespace anynpu::ops::signal {

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

bool all_finite(const double* x, int64_t count) {
  double zero = 0;
  for (int64_t i = 0; i < count; ++i) zero += x[i] * 0;
  return zero == 0;
}

// The bins of points of which some are infinite or no numbers: by definition, as differences inside
// a fast transform would spread other NaNs. No other point counts.
void endless_bins(const double* re, const double* im, int64_t length, bool inverse, int64_t bins,
                  double* out) {
  for (int64_t k = 0; k < bins; ++k) {
    Complex sum;
    for (int64_t i = 0; i < length && !(std::isnan(sum.re) && std::isnan(sum.im)); ++i) {
      if (std::isfinite(re[i]) && std::isfinite(im[i])) continue;
      const auto turn = static_cast<double>(k * i % length) / static_cast<double>(length);
      const double angle = (inverse ? 2 : -2) * M_PI * turn;
      sum.re += re[i] * std::cos(angle) - im[i] * std::sin(angle);
      sum.im += re[i] * std::sin(angle) + im[i] * std::cos(angle);
    }
    out[2 * k] = sum.re;
    out[2 * k + 1] = sum.im;
  }
}

// Rows of points, transformed two at a time. `load(args, row, re, im)` reads the points of a row,
// `store(args, row, bins)` takes its bins, real and imaginary parts in turn.
template <typename Load, typename Store>
std::unique_ptr<KernelPlan> plan_rows(size_t threads, int64_t rows, int64_t length, int64_t bins,
                                      bool inverse, Load load, Store store) {
  constexpr int64_t kSharedBytes = 256 << 20;  // more memory than this is for one thread
  auto fft = std::make_shared<const Fft>(length, inverse);
  const int64_t points = length + fft->scratch_points();
  const auto point_bytes = static_cast<size_t>(points) * sizeof(Fft::Point);
  const size_t bytes = point_bytes + static_cast<size_t>(2 * length + 2 * bins) * sizeof(double);
  const auto pairs = static_cast<size_t>((rows + 1) / Fft::kLanes);
  size_t workers = std::min(threads, std::max<size_t>(pairs, 1));
  if (workers * bytes > static_cast<size_t>(kSharedBytes)) workers = 1;
  auto plan = make_plan([=](const RunArgs& args) {
    std::atomic<size_t> next{0};
    parallel(std::min(workers, pairs), 1, [&](size_t worker, size_t) {
      std::byte* own = args.workspace + worker * bytes;
      auto* x = reinterpret_cast<Fft::Point*>(own);
      auto* re = reinterpret_cast<double*>(own + point_bytes);
      double *im = re + length, *out = im + length;
      for (size_t pair; (pair = next.fetch_add(1, std::memory_order_relaxed)) < pairs;) {
        const auto row = static_cast<int64_t>(pair) * Fft::kLanes;
        bool pending[Fft::kLanes] = {};
        for (int lane = 0; lane < Fft::kLanes; ++lane) {
          const bool there = row + lane < rows;
          if (there) load(args, row + lane, re, im);
          pending[lane] = there && all_finite(re, length) && all_finite(im, length);
          for (int64_t i = 0; i < length; ++i) {
            x[i].re[lane] = pending[lane] ? re[i] : 0;
            x[i].im[lane] = pending[lane] ? im[i] : 0;
          }
          if (there && !pending[lane]) {
            endless_bins(re, im, length, inverse, bins, out);
            store(args, row + lane, out);
          }
        }
        fft->run(x, x + length);
        const double scale = inverse ? static_cast<double>(length) : 1;
        for (int lane = 0; lane < Fft::kLanes; ++lane) {
          if (!pending[lane]) continue;
          for (int64_t k = 0; k < bins; ++k) {
            out[2 * k] = x[k].re[lane] / scale;
            out[2 * k + 1] = x[k].im[lane] / scale;
          }
          store(args, row + lane, out);
        }
      }
    });
  });
  plan->workspace_bytes = workers * bytes;
  return plan;
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

// The input as outer x extent x inner points of `parts` numbers; `extent` is along the axis.
struct Points {
  int64_t outer = 1, extent = 0, inner = 1, parts = 1;
};

Points points_of(const Shape& x, int64_t axis) {
  Points p{.extent = x[static_cast<size_t>(axis)], .parts = x.back()};
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()) - 1; ++i) {
    if (i != axis) (i < axis ? p.outer : p.inner) *= x[static_cast<size_t>(i)];
  }
  return p;
}

PlanResult plan_dft(const OpContext& context) {
  ANYNPU_ASSIGN(const Setup s, setup_of(context));
  const auto [outer, extent, inner, parts] = points_of(context.inputs[0].shape, s.axis);
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

PlanResult plan_dft_fast(const OpContext& context) {
  ANYNPU_ASSIGN(const Setup s, setup_of(context));
  const auto [outer, extent, inner, parts] = points_of(context.inputs[0].shape, s.axis);
  const DType type = context.inputs[0].dtype;
  const int64_t given = std::min(extent, s.to_real ? s.length / 2 + 1 : s.length);
  const auto load = [=, from = load_block<double>(type)](const RunArgs& args, int64_t row,
                                                         double* re, double* im) {
    const int64_t at = (row / inner * extent * inner + row % inner) * parts, step = inner * parts;
    std::fill(re, re + s.length, 0.0);  // a longer transform continues with zeros
    std::fill(im, im + s.length, 0.0);
    from(args.inputs[0], at, step, re, given);
    if (parts == 2) from(args.inputs[0], at + 1, step, im, given);
    for (int64_t i = s.length / 2 + 1; s.to_real && i < s.length; ++i) {
      re[i] = re[s.length - i];
      im[i] = -im[s.length - i];
    }
  };
  const auto store = [=, to = store_block<double>(type)](const RunArgs& args, int64_t row,
                                                         double* bins) {
    const int64_t stored = s.to_real ? 1 : 2;
    for (int64_t k = 0; s.to_real && k < s.bins; ++k) bins[k] = bins[2 * k];
    const int64_t at = (row / inner * s.bins * inner + row % inner) * stored;
    if (inner == 1) return to(args.outputs[0], at, bins, s.bins * stored);
    for (int64_t k = 0; k < s.bins; ++k) {
      to(args.outputs[0], at + k * inner * stored, bins + k * stored, stored);
    }
  };
  return plan_rows(context.target.threads, outer * inner, s.length, s.bins,
                   context.int_attr("inverse") != 0, load, store);
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

PlanResult plan_stft_fast(const OpContext& context) {
  ANYNPU_ASSIGN(const Frames f, frames_of(context));
  const Shape& x = context.inputs[0].shape;
  const int64_t parts = x.size() == 3 ? x[2] : 1, points = x[1];
  const bool windowed = context.has_input(2);
  const DType type = context.inputs[0].dtype;
  const auto load = [=, from = load_block<double>(type)](const RunArgs& args, int64_t row,
                                                         double* re, double* im) {
    const int64_t at = (row / f.count * points + row % f.count * f.step) * parts;
    from(args.inputs[0], at, parts, re, f.length);
    if (parts == 2) {
      from(args.inputs[0], at + 1, parts, im, f.length);
    } else {
      std::fill(im, im + f.length, 0.0);
    }
    double some[kBlockLength];
    for (int64_t i = 0; windowed && i < f.length; i += kBlockLength) {
      const int64_t count = std::min(kBlockLength, f.length - i);
      from(args.inputs[2], i, 1, some, count);
      for (int64_t j = 0; j < count; ++j) {
        re[i + j] *= some[j];
        if (parts == 2) im[i + j] *= some[j];
      }
    }
  };
  const auto store = [=, to = store_block<double>(type)](const RunArgs& args, int64_t row,
                                                         const double* bins) {
    to(args.outputs[0], row * f.bins * 2, bins, f.bins * 2);
  };
  return plan_rows(context.target.threads, x[0] * f.count, f.length, f.bins, false, load, store);
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
                  .traits = OpTraits::general().with(SizedBy::parameters),
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
                        .traits = OpTraits::general().with(SizedBy::parameters),
                        .shape = stft_rule});
  // The fast transform first; the definition, a sum for each bin, is the oracle of the tests.
  registry.add_kernels(
      "DFT", {{"fft", kFloats, nullptr, create_with_runtime_params<plan_dft_fast, 0b110>},
              {"reference", kFloats, nullptr, create_with_runtime_params<plan_dft, 0b110>}});
  registry.add_kernels(
      "STFT", {{"fft", kFloats, nullptr, create_with_runtime_params<plan_stft_fast, 0b1010>},
               {"reference", kFloats, nullptr, create_with_runtime_params<plan_stft, 0b1010>}});
}

void register_family(Registry& registry) {
  register_fourier(registry);
  register_windows(registry);
  register_mel(registry);
  register_tf_idf(registry);
}

}  // namespace anynpu::ops::signal
