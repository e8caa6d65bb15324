// SPDX-License-Identifier: Apache-2.0
// Convolutions of any number of spatial axes and their gradients.
#include "aclnn/arithmetic.h"
#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

struct Window {
  size_t spatial = 0;
  Ints stride, pad, dilation, output_pad;  // one number an axis
  int64_t groups = 1;
  bool transposed = false;

  Ints pads() const {  // begins, then ends
    Ints both = pad;
    both.insert(both.end(), pad.begin(), pad.end());
    return both;
  }
};

// One number for all axes, or one for each.
Ints per_axis(Recipe& r, const char* name, size_t spatial, int64_t otherwise) {
  auto list = r.ints(name);
  if (list.empty()) list = {otherwise};
  if (list.size() == 1) list.assign(spatial, list[0]);
  if (list.size() == 2 * spatial) list.resize(spatial);  // begins, then the same ends
  if (list.size() != spatial) {
    refuse("{} has {} numbers; expected 1 or {}", name, list.size(), spatial);
  }
  return list;
}

Window window_of(Recipe& r) {
  Window w;
  const size_t rank = r.rank("input");
  if (rank < 3 || rank > 5) refuse("input has {} axes; expected 3 to 5", rank);
  if (r.rank("weight") != rank) {
    refuse("weight has {} axes and input {}; expected the same", r.rank("weight"), rank);
  }
  w.spatial = rank - 2;
  w.stride = per_axis(r, "stride", w.spatial, 1);
  w.pad = per_axis(r, "padding", w.spatial, 0);
  w.dilation = per_axis(r, "dilation", w.spatial, 1);
  w.output_pad = per_axis(r, "outputPadding", w.spatial, 0);
  w.groups = r.integer("groups");
  w.transposed = r.flag("transposed");
  for (size_t i = 0; i < w.spatial; ++i) {
    if (w.stride[i] < 1 || w.dilation[i] < 1 || w.pad[i] < 0) {
      refuse("stride is {}, padding {}, dilation {}; expected at least 1, 0 and 1",
             w.stride.plain(), w.pad.plain(), w.dilation.plain());
    }
  }
  if (w.groups < 1) refuse("groups is {}; expected at least 1", w.groups);
  return w;
}

Value convolve(Recipe& r, const Window& w, Value x, Value weight, Value bias) {
  return r.op(
      "Conv", {x, weight, bias},
      {{"strides", w.stride}, {"pads", w.pads()}, {"dilations", w.dilation}, {"group", w.groups}});
}

Value convolve_transposed(Recipe& r, const Window& w, Value x, Value weight, Value bias) {
  return r.op("ConvTranspose", {x, weight, bias},
              {{"strides", w.stride},
               {"pads", w.pads()},
               {"dilations", w.dilation},
               {"group", w.groups},
               {"output_padding", w.output_pad}});
}

void convolution(Recipe& r) {
  const Window w = window_of(r);
  const DType type = floating(promote(r.dtype("input"), r.dtype("weight")));
  const Value x = r.cast(r.in("input"), type), weight = r.cast(r.in("weight"), type);
  const Value bias = r.given("bias") ? r.cast(r.in("bias"), type) : Value{};
  r.out("output", w.transposed ? convolve_transposed(r, w, x, weight, bias)
                               : convolve(r, w, x, weight, bias));
}

// Every channel with filters of its own.
void depthwise(Recipe& r) {
  if (r.rank("self") != 4 || r.rank("weight") != 4) {
    refuse("self and weight have {} and {} axes; expected 4", r.rank("self"), r.rank("weight"));
  }
  Window w;
  w.spatial = 2;
  w.stride = per_axis(r, "stride", 2, 1);
  w.pad = per_axis(r, "padding", 2, 0);
  w.dilation = per_axis(r, "dilation", 2, 1);
  w.groups = r.shape("self")[1];
  const DType type = floating(promote(r.dtype("self"), r.dtype("weight")));
  const Value bias = r.given("bias") ? r.cast(r.in("bias"), type) : Value{};
  r.out("out", convolve(r, w, r.cast(r.in("self"), type), r.cast(r.in("weight"), type), bias));
}

// Time, batch, channels; weights are taps, channels in, channels out.
void conv_tbc(Recipe& r) {
  if (r.rank("self") != 3 || r.rank("weight") != 3) {
    refuse("self and weight have {} and {} axes; expected 3", r.rank("self"), r.rank("weight"));
  }
  Window w;
  w.spatial = 1;
  w.stride = w.dilation = {1};
  w.pad = {r.integer("pad")};
  const DType type = floating(promote(r.dtype("self"), r.dtype("weight")));
  const Value x = r.transpose(r.cast(r.in("self"), type), {1, 2, 0});
  const Value weight = r.transpose(r.cast(r.in("weight"), type), {2, 1, 0});
  const Value bias = r.given("bias") ? r.cast(r.in("bias"), type) : Value{};
  r.out("output", r.transpose(convolve(r, w, x, weight, bias), {2, 0, 1}));
}

// The gradient of x in y = conv(x, weight): output padding makes up for what the window did not
// reach.
Value input_gradient(Recipe& r, Window w, Value grad, Value weight, const Shape& input) {
  const Shape out = r.shape(grad), kernel = r.shape(weight);
  for (size_t i = 0; i < w.spatial; ++i) {
    const int64_t reached =
        (out[i + 2] - 1) * w.stride[i] - 2 * w.pad[i] + w.dilation[i] * (kernel[i + 2] - 1) + 1;
    w.output_pad[i] = input[i + 2] - reached;
  }
  return convolve_transposed(r, w, grad, weight, {});
}

// The positions of `shape` at the front of each spatial axis: output padding of a transposed
// convolution may leave room for more windows than there were.
Value first_positions(Recipe& r, Value x, const Shape& shape) {
  for (size_t i = 2; i < shape.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (r.extent(x, axis) > shape[i]) x = r.slice(x, axis, 0, shape[i]);
  }
  return x;
}

// The gradient of the weight in y = conv(x, weight), a product over all positions of the batch:
// (group, out, N * positions) x (group, in * taps, N * positions) transposed.
Value weight_gradient(Recipe& r, const Window& w, Value x, Value grad, const Shape& kernel) {
  const Shape out = r.shape(grad);
  const Ints taps(kernel.begin() + 2, kernel.end());
  const int64_t positions = element_count({out.begin() + 2, out.end()});
  const int64_t all = out[0] * positions, each = out[1] / w.groups;
  const Value columns = r.op("Im2Col", {x},
                             {{"kernel_shape", taps},
                              {"strides", w.stride},
                              {"pads", w.pads()},
                              {"dilations", w.dilation},
                              {"by_channel", 1}});
  const Shape seen = r.shape(x);
  Shape places{r.extent(columns, 0), out[0]};
  for (size_t i = 0; i < w.spatial; ++i) {
    const int64_t window = w.dilation[i] * (taps[i] - 1) + 1;
    places.push_back((seen[i + 2] + 2 * w.pad[i] - window) / w.stride[i] + 1);
  }
  const Value wanted = first_positions(r, r.reshape(columns, places), out);
  const Value turned = r.transpose(r.reshape(grad, {out[0], out[1], positions}), {1, 0, 2});
  const int64_t rows = kernel[1] * element_count(taps);
  const Value sums =
      r.op("FusedMatMul",
           {r.reshape(turned, {w.groups, each, all}), r.reshape(wanted, {w.groups, rows, all})},
           {{"transB", 1}});
  return r.reshape(sums, kernel);
}

void convolution_backward(Recipe& r) {
  const Window w = window_of(r);
  const DType type = computed_in(floating(promote(r.dtype("gradOutput"), r.dtype("weight"))));
  const Value grad = r.cast(r.in("gradOutput"), type);
  const auto wanted = r.bools("outputMask");
  const auto wants = [&](size_t i) { return i < wanted.size() && wanted[i]; };
  if (wants(0) && r.given("gradInput")) {
    const Value weight = r.cast(r.in("weight"), type);
    r.out("gradInput", w.transposed
                           ? first_positions(r, convolve(r, w, grad, weight, {}), r.shape("input"))
                           : input_gradient(r, w, grad, weight, r.shape("input")));
  }
  if (wants(1) && r.given("gradWeight")) {
    const Value x = r.cast(r.in("input"), type);
    const Shape kernel = r.shape("weight");
    r.out("gradWeight", w.transposed ? weight_gradient(r, w, grad, x, kernel)
                                     : weight_gradient(r, w, x, grad, kernel));
  }
  if (wants(2) && r.given("gradBias")) {
    Ints axes{0};
    for (size_t i = 0; i < w.spatial; ++i) axes.push_back(static_cast<int64_t>(i) + 2);
    r.out("gradBias", r.op("ReduceSum", {grad, r.constant(axes)}, {{"keepdims", 0}}));
  }
}

// Time, batch, channels, as conv_tbc: `self` is the gradient of its output.
void conv_tbc_backward(Recipe& r) {
  if (r.rank("self") != 3 || r.rank("input") != 3 || r.rank("weight") != 3) {
    refuse("self, input and weight have {}, {} and {} axes; expected 3", r.rank("self"),
           r.rank("input"), r.rank("weight"));
  }
  Window w;
  w.spatial = 1;
  w.stride = w.dilation = {1};
  w.pad = {r.integer("pad")};
  w.output_pad = {0};
  const DType type = computed_in(floating(promote(r.dtype("self"), r.dtype("weight"))));
  const Value grad = r.cast(r.in("self"), type);
  const Value turned = r.transpose(grad, {1, 2, 0});
  const Value x = r.transpose(r.cast(r.in("input"), type), {1, 2, 0});
  const Value weight = r.transpose(r.cast(r.in("weight"), type), {2, 1, 0});
  r.out("gradInput", r.transpose(input_gradient(r, w, turned, weight, r.shape(x)), {2, 0, 1}));
  r.out("gradWeight", r.transpose(weight_gradient(r, w, x, turned, r.shape(weight)), {2, 1, 0}));
  r.out_if("gradBias", r.op("ReduceSum", {grad, r.constant({0, 1})}, {{"keepdims", 0}}));
}

// Integers of 8 bits, whose sums are exact, then (sums + bias) * scale + offset for each channel.
void quantised_convolution(Recipe& r) {
  const Window w = window_of(r);
  if (w.transposed) refuse("transposed is true; expected false");
  if (r.integer("offsetx") != 0) refuse("offsetx is {}; expected 0", r.integer("offsetx"));
  Value y = r.op(
      "ConvInteger", {r.in("input"), r.in("weight")},
      {{"strides", w.stride}, {"pads", w.pads()}, {"dilations", w.dilation}, {"group", w.groups}});
  Shape channels(r.rank("input"), 1);
  channels[1] = r.shape("weight")[0];
  const auto of_channels = [&](const char* name, DType type) {
    return r.reshape(r.cast(r.in(name), type), channels);
  };
  const bool whole = r.given("bias") && !is_floating(r.dtype("bias"));
  if (whole) y = r.op("Add", {y, of_channels("bias", DType::i32)});
  y = r.op("Mul", {r.cast(y, DType::f32), r.reshape(scale_of(r, "scale"), channels)});
  if (r.given("bias") && !whole) y = r.op("Add", {y, of_channels("bias", DType::f32)});
  if (r.given("offset")) y = r.op("Add", {y, of_channels("offset", DType::f32)});
  r.out("output", y);
}

// What each window sees, as columns; a tensor without a batch gets one.
void im2col(Recipe& r) {
  Value x = r.in("self");
  Shape shape = r.shape(x);
  if (shape.size() == 3) shape.insert(shape.begin(), 1);
  const auto pad = per_axis(r, "padding", 2, 0);
  const Value y = r.op("Im2Col", {r.reshape(x, shape)},
                       {{"kernel_shape", per_axis(r, "kernelSize", 2, 1)},
                        {"strides", per_axis(r, "stride", 2, 1)},
                        {"pads", Ints{pad[0], pad[1], pad[0], pad[1]}},
                        {"dilations", per_axis(r, "dilation", 2, 1)}});
  r.out("out", r.reshape(y, r.shape("out")));
}

void im2col_backward(Recipe& r) {
  Value x = r.cast(r.in("gradOutput"), computed_in(r.dtype("gradOutput")));
  Shape shape = r.shape(x);
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  const auto pad = per_axis(r, "padding", 2, 0);
  const Value y = r.op("Col2Im",
                       {r.reshape(x, shape), r.constant(per_axis(r, "inputSize", 2, 1)),
                        r.constant(per_axis(r, "kernelSize", 2, 1))},
                       {{"strides", per_axis(r, "stride", 2, 1)},
                        {"pads", Ints{pad[0], pad[1], pad[0], pad[1]}},
                        {"dilations", per_axis(r, "dilation", 2, 1)}});
  r.out("out", r.reshape(y, r.shape("out")));
}

const Row kRows[] = {
    {"aclnnIm2col", im2col},
    {"aclnnIm2colBackward", im2col_backward},
    {"aclnnConvolution", convolution},
    {"aclnnConvDepthwise2d", depthwise},
    {"aclnnConvTbc", conv_tbc},
    {"aclnnConvTbcBackward", conv_tbc_backward},
    {"aclnnConvolutionBackward", convolution_backward},
    {"aclnnQuantConvolution", quantised_convolution},
};

}  // namespace

std::span<const Row> conv_rows() { return kRows; }

}  // namespace anynpu::aclnn
