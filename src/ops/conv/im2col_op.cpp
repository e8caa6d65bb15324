// SPDX-License-Identifier: Apache-2.0
// Im2Col: one row per kernel tap with its input at each output position; zeros in the padding.
// Shape N, C * taps, positions; with by_channel C * taps, N, positions, as needed for the gradient
// of weights.
#include <algorithm>
#include <cstring>

#include "ops/conv/conv.h"
#include "ops/data_movement/element_size.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"

namespace anynpu::ops::conv {

namespace {

Result<Window> window_of_columns(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  if (x.size() < 3) {
    return fail(Code::shape_mismatch, "{}: input {}, expected N, C and at least one axis more",
                context.label(), to_string(x));
  }
  return window_of(context, {x.begin() + 2, x.end()}, context.ints_attr("kernel_shape"));
}

Status columns_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known()) return {};
  ANYNPU_ASSIGN(const Window w, window_of_columns(context));
  const int64_t rows = x.shape[1] * element_count(w.kernel), columns = element_count(w.out);
  context.outputs[0].shape = context.int_attr("by_channel") != 0 ? Shape{rows, x.shape[0], columns}
                                                                 : Shape{x.shape[0], rows, columns};
  context.outputs[0].has_shape = true;
  return {};
}

// One row: tap `tap` of a plane, at every output position.
template <typename T>
void fill_row(const Window& w, const T* plane, int64_t tap, T* row) {
  const size_t last = w.dims() - 1;
  std::vector<int64_t> place(w.dims());
  for (size_t d = w.dims(); d-- > 0; tap /= w.kernel[d])
    place[d] = tap % w.kernel[d] * w.dilation[d] - w.pad_begin[d];
  const int64_t lines = element_count(w.out) / std::max<int64_t>(w.out[last], 1);
  const int64_t step = w.stride[last], width = w.out[last];
  // Positions of the last axis whose input is there.
  const int64_t first =
      std::clamp<int64_t>(place[last] >= 0 ? 0 : (-place[last] + step - 1) / step, 0, width);
  const int64_t end = std::clamp<int64_t>(
      w.in[last] <= place[last] ? 0 : (w.in[last] - 1 - place[last]) / step + 1, first, width);
  for (int64_t line = 0; line < lines; ++line, row += width) {
    int64_t rest = line, offset = 0, scale = w.in[last];
    bool there = true;
    for (size_t d = last; d-- > 0;) {
      const int64_t at = rest % w.out[d] * w.stride[d] + place[d];
      rest /= w.out[d];
      there = there && at >= 0 && at < w.in[d];
      offset += at * scale;
      scale *= w.in[d];
    }
    if (!there) {
      std::fill_n(row, width, T{});
      continue;
    }
    const T* from = plane + offset + place[last];
    std::fill_n(row, first, T{});
    if (step == 1) {
      std::memcpy(row + first, from + first, static_cast<size_t>(end - first) * sizeof(T));
    } else {
      for (int64_t i = first; i < end; ++i) row[i] = from[i * step];
    }
    std::fill_n(row + end, width - end, T{});
  }
}

PlanResult plan_columns(const OpContext& context) {
  ANYNPU_ASSIGN(const Window w, window_of_columns(context));
  const Shape& x = context.inputs[0].shape;
  const int64_t batch = x[0], channels = x[1], taps = element_count(w.kernel);
  const int64_t columns = element_count(w.out), plane = element_count(w.in);
  const bool by_channel = context.int_attr("by_channel") != 0;
  return visit_size(size_of(context.inputs[0].dtype), [&](auto element) {
    using T = decltype(element);
    return make_plan([=](const RunArgs& args) {
      parallel(static_cast<size_t>(batch * channels * taps),
               static_cast<size_t>(std::max<int64_t>(1, 8192 / std::max<int64_t>(columns, 1))),
               [&](size_t begin, size_t end) {
                 for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
                   const int64_t row = by_channel ? i / batch : i % (channels * taps);
                   const int64_t n = by_channel ? i % batch : i / (channels * taps);
                   fill_row(w, input_of<T>(args, 0) + (n * channels + row / taps) * plane,
                            row % taps, output_of<T>(args, 0) + i * columns);
                 }
               });
    });
  });
}

}  // namespace

void register_im2col_op(Registry& registry) {
  registry.add(OpSchema{.name = "Im2Col",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kAnyFixed}},
                        .attrs = {{"kernel_shape", AttrKind::ints, {}, true},
                                  {"strides", AttrKind::ints},
                                  {"pads", AttrKind::ints},
                                  {"dilations", AttrKind::ints},
                                  {"auto_pad", AttrKind::s, "NOTSET"},
                                  {"ceil_mode", AttrKind::i, int64_t{0}},
                                  {"by_channel", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::data_movement().with(Strings::refused),
                        .shape = columns_rule});
  registry.add(KernelDef{.op = "Im2Col",
                         .name = "rows",
                         .domain = "anynpu",
                         .types = kAnyFixed,
                         .create = create_plain<plan_columns>});
}

}  // namespace anynpu::ops::conv
