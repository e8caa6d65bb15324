// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors over the broadcasting engine.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/broadcast.h"
#include "ops/elements/map_elements.h"
#include "ops/elementwise/elementwise.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "tensor/element.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::elementwise {

namespace {

// Integers wrap: computed unsigned, so that no input overflows.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;  // the processor would trap
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return Sub{}(T(0), a);
      }
    }
    return static_cast<T>(a / b);
  }
};

Status binary_rule(OpContext& context) {
  const Operand &a = context.inputs[0], &b = context.inputs[1];
  context.outputs[0].dtype = a.dtype;
  if (!a.has_shape || !b.has_shape) return {};
  ANYNPU_ASSIGN(context.outputs[0].shape, broadcast(a.shape, b.shape), "{}", context.label());
  context.outputs[0].has_shape = true;
  return {};
}

template <typename T>
constexpr bool kIsShort = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
template <typename T>
constexpr DType kShortType = std::is_same_v<T, F16> ? DType::f16 : DType::bf16;

// Elements of a short float that are widened at a time.
constexpr int64_t kWidened = 256;

template <typename T>
void widen_some(const T* x, int64_t step, int64_t count, float* out) {
  if (step == 1) {
    widen(kShortType<T>, reinterpret_cast<const std::byte*>(x), out, static_cast<size_t>(count));
  } else {
    std::fill_n(out, count, static_cast<float>(Element<T>::load(*x)));
  }
}

template <typename T, typename Functor>
void inner_loop(const T* a, const T* b, T* y, int64_t step_a, int64_t step_b, int64_t count) {
  const Functor f;
  if constexpr (kIsShort<T>) {
    float p[kWidened], q[kWidened];
    for (int64_t at = 0; at < count; at += kWidened) {
      const int64_t n = std::min(kWidened, count - at);
      if (at == 0 || step_a != 0) widen_some(a + at * step_a, step_a, n, p);
      if (at == 0 || step_b != 0) widen_some(b + at * step_b, step_b, n, q);
      float made[kWidened];
      float *to = made, *left = p, *right = q;
      map_elements(static_cast<size_t>(n), [=](size_t i) { to[i] = f(left[i], right[i]); });
      narrow(kShortType<T>, made, reinterpret_cast<std::byte*>(y + at), static_cast<size_t>(n));
    }
  } else if (step_a == 1 && step_b == 1) {
    map_elements(static_cast<size_t>(count), [=](size_t i) { y[i] = f(a[i], b[i]); });
  } else if (step_a == 1) {
    const T q = *b;
    map_elements(static_cast<size_t>(count), [=](size_t i) { y[i] = f(a[i], q); });
  } else {
    const T p = *a;
    const auto step = static_cast<size_t>(step_b);
    map_elements(static_cast<size_t>(count), [=](size_t i) { y[i] = f(p, b[i * step]); });
  }
}

// x of N x C x spatial with one element for each channel, both in blocks of 16 channels.
struct ChannelLoop {
  int64_t images = 0, blocks = 0, pixels = 0;
  bool of_all_images = false;  // the channels are 1 x C
};

template <typename T, typename Functor, bool channels_first>
std::unique_ptr<KernelPlan> plan_channels(ChannelLoop loop) {
  return make_plan([loop](const RunArgs& args) {
    const auto least = static_cast<size_t>(1 + 8192 / (loop.pixels * kBlock + 1));
    const T* all = input_of<T>(args, channels_first ? 1 : 0);
    const T* channels = input_of<T>(args, channels_first ? 0 : 1);
    parallel(static_cast<size_t>(loop.images * loop.blocks), least, [&](size_t begin, size_t end) {
      const Functor f;
      const auto apply = [f](auto x, auto c) { return channels_first ? f(c, x) : f(x, c); };
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const T* c = channels + (loop.of_all_images ? i % loop.blocks : i) * kBlock;
        const T* x = all + i * loop.pixels * kBlock;
        T* y = output_of<T>(args, 0) + i * loop.pixels * kBlock;
        if constexpr (kIsShort<T>) {
          float repeated[kWidened], part[kWidened];
          for (int64_t at = 0; at < kWidened; at += kBlock) widen_some(c, 1, kBlock, repeated + at);
          for (int64_t at = 0; at < loop.pixels * kBlock; at += kWidened) {
            const int64_t n = std::min(kWidened, loop.pixels * kBlock - at);
            widen_some(x + at, 1, n, part);
            float *from = part, *by = repeated;
            map_elements(static_cast<size_t>(n),
                         [=](size_t k) { from[k] = apply(from[k], by[k]); });
            narrow(kShortType<T>, part, reinterpret_cast<std::byte*>(y + at),
                   static_cast<size_t>(n));
          }
        } else {
          T own[kBlock];
          std::copy_n(c, kBlock, own);
          for (int64_t pixel = 0; pixel < loop.pixels; ++pixel, x += kBlock, y += kBlock) {
#pragma GCC ivdep
            for (int64_t k = 0; k < kBlock; ++k) y[k] = apply(x[k], own[k]);
          }
        }
      }
    });
  });
}

template <typename T, typename Functor>
std::unique_ptr<KernelPlan> plan_broadcast(BroadcastLoop loop) {
  return make_plan([loop = std::move(loop)](const RunArgs& args) {
    // Long inner loops are cut into pieces, so that one long row still feeds every thread.
    constexpr int64_t kPiece = 4096;
    const int64_t pieces = ceil_div(loop.inner, kPiece);
    const int64_t length = std::clamp<int64_t>(loop.inner, 1, kPiece);
    const auto least = static_cast<size_t>(std::max<int64_t>(1, 8192 / length));
    parallel(static_cast<size_t>(loop.outer * pieces), least, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t outer = i / pieces, from = i % pieces * kPiece;
        int64_t a = 0, b = 0;
        loop.offsets(outer, a, b);
        inner_loop<T, Functor>(input_of<T>(args, 0) + a + from * loop.inner_a,
                               input_of<T>(args, 1) + b + from * loop.inner_b,
                               output_of<T>(args, 0) + outer * loop.inner + from, loop.inner_a,
                               loop.inner_b, std::min(kPiece, loop.inner - from));
      }
    });
  });
}

// Whether `channels` has one element for each channel of `all`, which lies in blocks.
bool is_by_channel(const Operand& all, const Operand& channels) {
  if (all.layout != Layout::blocked16 || !can_block(all) || !can_block(channels)) return false;
  const Shape &x = all.shape, &c = channels.shape;
  if (x.size() != c.size() || c[1] != x[1] || (c[0] != 1 && c[0] != x[0])) return false;
  return std::all_of(c.begin() + 2, c.end(), [](int64_t extent) { return extent == 1; });
}

// Blocked operands stay blocked where one of each pair of elements lies beside the other, or where
// one of them has one element for each channel. The unused channels must stay finite, which a
// division by them would not.
template <typename Functor, bool keeps_blocked>
PlanResult plan_binary(const OpContext& context) {
  const Operand &a = context.inputs[0], &b = context.inputs[1];
  const Shape& out = context.outputs[0].shape;
  const bool none = element_count(out) == 0;
  const bool same = a.shape == b.shape && can_block(a) &&
                    (a.layout == Layout::blocked16 || b.layout == Layout::blocked16);
  const bool by_channel = is_by_channel(a, b) || is_by_channel(b, a);
  const bool blocked = keeps_blocked && (same || by_channel);
  std::unique_ptr<KernelPlan> plan;
  if (blocked && !same) {
    const bool first = !is_by_channel(a, b);
    const Shape &x = first ? b.shape : a.shape, &c = first ? a.shape : b.shape;
    const ChannelLoop loop{none ? 0 : x[0], ceil_div(x[1], kBlock),
                           element_count({x.begin() + 2, x.end()}), c[0] == 1};
    visit_floats(a.dtype, [&](auto zero) {
      using T = decltype(zero);
      plan = first ? plan_channels<T, Functor, true>(loop) : plan_channels<T, Functor, false>(loop);
    });
  } else {
    const Shape flat = {stored_elements(out, Layout::blocked16)};
    BroadcastLoop loop =
        blocked ? broadcast_loop(flat, flat, flat) : broadcast_loop(a.shape, b.shape, out);
    if (none) loop.outer = 0;
    visit_numbers(a.dtype, [&](auto zero) {
      plan = plan_broadcast<decltype(zero), Functor>(std::move(loop));
    });
  }
  if (!plan) return no_kernel_for(context);
  const Layout layout = blocked ? Layout::blocked16 : Layout::plain;
  plan->input_layouts = {layout, layout};
  plan->output_layouts = {layout};
  if (a.shape == out) {
    plan->in_place_input = 0;
  } else if (b.shape == out) {
    plan->in_place_input = 1;
  }
  return plan;
}

template <typename Functor, bool keeps_blocked>
void add_binary(Registry& registry, std::string_view name) {
  registry.add(OpSchema{.name = name,
                        .since = 7,
                        .inputs = {{"A", "T"}, {"B", "T"}},
                        .outputs = {{"C", "T"}},
                        .types = {{"T", kNumbers}},
                        .traits = OpTraits::broadcast().with(StatedShape::of_broadcast),
                        .shape = binary_rule});
  add_list(
      registry, name,
      {"binary_reference", kNumbers, nullptr, create_plain<plan_binary<Functor, keeps_blocked>>});
}

}  // namespace

void register_binary(Registry& registry) {
  add_binary<Add, true>(registry, "Add");
  add_binary<Sub, true>(registry, "Sub");
  add_binary<Mul, true>(registry, "Mul");
  add_binary<Div, false>(registry, "Div");
}

}  // namespace anynpu::ops::elementwise
