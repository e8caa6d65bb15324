// SPDX-License-Identifier: Apache-2.0
// A sum of two tensors, normalised: what networks of transformers call at the ends of their blocks.
// Results may be quantised at once.
#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

// The last axes, as many as gamma has.
std::vector<int64_t> last_axes(Recipe& r, size_t rank, Param gamma) {
  const size_t inner = r.rank(gamma);
  if (inner == 0 || inner > rank) refuse("gamma has {} axes, the tensor {}", inner, rank);
  std::vector<int64_t> axes;
  for (size_t i = rank - inner; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Value mean(Recipe& r, Value x, const std::vector<int64_t>& axes) {
  return r.op("ReduceMean", {x, r.constant(axes)}, {{"keepdims", 1}});
}

Value inverse_root(Recipe& r, Value square) {
  const Value sum = r.op("Add", {square, r.number("epsilon", DType::f32)});
  return r.op("Reciprocal", {r.op("Sqrt", {sum})});
}

Value floats(Recipe& r, Param param) { return r.cast(r.in(param), DType::f32); }

void write_if(Recipe& r, const char* name, Value value) {
  if (r.has_parameter(name) && r.given(name) && r.tensor(name).count() > 0)
    r.out(name, r.reshape(value, r.shape(name)));
}

struct Sum {
  Value rounded, wide;  // as it is stored, and that in float32
};

Sum sum_of(Recipe& r, const char* a, const char* b, Value more = {}) {
  Value sum = r.op("Add", {floats(r, a), floats(r, b)});
  if (more) sum = r.op("Add", {sum, more});
  const Value rounded = r.cast(sum, r.dtype(a));
  return {rounded, r.cast(rounded, DType::f32)};
}

struct Rms {
  Value y, inverse;
};

Rms rms_norm(Recipe& r, Value x) {
  const auto axes = last_axes(r, r.shape(x).size(), "gamma");
  const Value inverse = inverse_root(r, mean(r, r.op("Mul", {x, x}), axes));
  Value y = r.op("Mul", {r.op("Mul", {x, inverse}), floats(r, "gamma")});
  for (const char* name : {"beta", "betaOptional"}) {
    if (r.has_parameter(name) && r.given(name)) y = r.op("Add", {y, floats(r, name)});
  }
  return {y, inverse};
}

// In two types: the wider one first.
void add_rms_cast(Recipe& r) {
  const Sum sum = sum_of(r, "x1", "x2");
  const Rms made = rms_norm(r, sum.wide);
  r.out("xOut", sum.rounded);
  r.out("y2Out", made.y);
  r.out("y1Out", r.cast(made.y, r.dtype("y2Out")));
  write_if(r, "rstdOut", made.inverse);
}

void add_rms_in_place(Recipe& r) {
  const Sum sum = sum_of(r, "x1Ref", "x2Ref");
  const Rms made = rms_norm(r, sum.wide);
  r.out("x1Ref", made.y);
  r.out("x2Ref", sum.rounded);
  write_if(r, "rstdOut", made.inverse);
}

// y times or by the scales of the last axis, and offsets.
Value scaled(Recipe& r, Value y, const char* scale, const char* offset, bool divides) {
  const Shape shape = r.shape(y);
  y = r.op(divides ? "Div" : "Mul", {y, along(r, scale_of(r, scale), shape, -1)});
  if (r.given(offset)) y = r.op("Add", {y, along(r, scale_of(r, offset), shape, -1)});
  return y;
}

void add_rms_quant(Recipe& r) {
  const Sum sum = sum_of(r, "x1", "x2");
  const Value y = rms_norm(r, sum.wide).y;
  const bool divides = r.flag("divMode");
  out_rounded(r, "y1Out", scaled(r, y, "scales1", "zeroPoints1Optional", divides));
  if (r.given("scales2Optional") && r.given("y2Out"))
    out_rounded(r, "y2Out", scaled(r, y, "scales2Optional", "zeroPoints2Optional", divides));
  r.out("xOut", sum.rounded);
  write_if(r, "rmsNormOut", y);
}

void add_rms_dynamic(Recipe& r) {
  const Sum sum = sum_of(r, "x1", "x2");
  const Value y = rms_norm(r, sum.wide).y;
  const auto half = [&](const char* smooth, const char* out, const char* scale) {
    Value x = y;
    if (r.given(smooth)) x = r.op("Mul", {x, along(r, scale_of(r, smooth), r.shape(x), -1)});
    const RowQuantised q = quantise_rows(r, x, r.dtype(out));
    r.out(out, q.values);
    r.out(scale, r.reshape(q.scales, r.shape(scale)));
  };
  std::vector<bool> wanted = {true, r.given("smoothScale2Optional")};
  if (r.has_parameter("outputMask") && r.length_if("outputMask") == 2)
    wanted = r.bools("outputMask");
  if (wanted[0]) half("smoothScale1Optional", "y1Out", "scale1Out");
  if (wanted[1]) half("smoothScale2Optional", "y2Out", "scale2Out");
  r.out("xOut", sum.rounded);
}

void rms_quant(Recipe& r) {
  const Rms made = rms_norm(r, floats(r, "x"));
  const bool divides = r.has_parameter("divMode") && r.flag("divMode");
  out_rounded(r, "y", scaled(r, made.y, "scale", "offset", divides));
  if (r.has_parameter("outputRstd") && r.flag("outputRstd")) write_if(r, "rstd", made.inverse);
}

struct Layer {
  Value y, mean, inverse;
};

Layer layer_norm(Recipe& r, Value x) {
  const auto axes = last_axes(r, r.shape(x).size(), "gamma");
  const Value middle = mean(r, x, axes), apart = r.op("Sub", {x, middle});
  const Value inverse = inverse_root(r, mean(r, r.op("Mul", {apart, apart}), axes));
  const Value normal = r.op("Mul", {r.op("Mul", {apart, inverse}), floats(r, "gamma")});
  return {r.op("Add", {normal, floats(r, "beta")}), middle, inverse};
}

void add_layer(Recipe& r) {
  const Value bias = r.given("biasOptional") ? floats(r, "biasOptional") : Value{};
  const Sum sum = sum_of(r, "x1", "x2", bias);
  const Layer made = layer_norm(r, sum.wide);
  r.out("yOut", made.y);
  write_if(r, "meanOut", made.mean);
  write_if(r, "rstdOut", made.inverse);
  if (r.flag("additionalOutput")) r.out("xOut", sum.rounded);
}

void deep(Recipe& r) {
  const Value x = r.op("Mul", {floats(r, "x"), r.number("alpha", DType::f32)});
  const Layer made = layer_norm(r, r.op("Add", {x, floats(r, "gx")}));
  r.out("yOut", made.y);
  write_if(r, "meanOut", made.mean);
  write_if(r, "rstdOut", made.inverse);
}

struct LayerGradient {
  Value x, gamma, beta;
};

LayerGradient layer_gradient(Recipe& r, Value x) {
  const Shape shape = r.shape(x);
  const auto axes = last_axes(r, shape.size(), "gamma");
  Shape kept = shape;
  for (int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  const Value dy = floats(r, "dy"), inverse = r.reshape(floats(r, "rstd"), kept);
  const Value normal = r.op("Mul", {r.op("Sub", {x, r.reshape(floats(r, "mean"), kept)}), inverse});
  const Value passed = r.op("Mul", {dy, floats(r, "gamma")});
  const Value middle = mean(r, passed, axes);
  const Value slope = r.op("Mul", {normal, mean(r, r.op("Mul", {passed, normal}), axes)});
  LayerGradient g;
  g.x = r.op("Mul", {inverse, r.op("Sub", {r.op("Sub", {passed, middle}), slope})});
  std::vector<int64_t> leading;
  for (int64_t i = 0; i < axes.front(); ++i) leading.push_back(i);
  const auto summed = [&](Value v) {
    if (leading.empty()) return v;
    return r.op("ReduceSum", {v, r.constant(leading)}, {{"keepdims", 0}});
  };
  g.gamma = summed(r.op("Mul", {dy, normal}));
  g.beta = summed(dy);
  return g;
}

void add_layer_gradient(Recipe& r) {
  const LayerGradient g = layer_gradient(r, sum_of(r, "x1", "x2").wide);
  r.out("dxOut", r.given("dsumOptional") ? r.op("Add", {g.x, floats(r, "dsumOptional")}) : g.x);
  r.out("dgammaOut", g.gamma);
  r.out("dbetaOut", g.beta);
}

void deep_gradient(Recipe& r) {
  const Value alpha = r.number("alpha", DType::f32);
  const Value x = r.op("Add", {r.op("Mul", {floats(r, "x"), alpha}), floats(r, "gx")});
  const LayerGradient g = layer_gradient(r, x);
  r.out("dxOut", r.op("Mul", {g.x, alpha}));
  r.out("dgxOut", g.x);
  r.out("dgammaOut", g.gamma);
  r.out("dbetaOut", g.beta);
}

const Row kRows[] = {
    {"aclnnAddRmsNormCast", add_rms_cast},
    {"aclnnInplaceAddRmsNorm", add_rms_in_place},
    {"aclnnAddRmsNormQuant", add_rms_quant},
    {"aclnnAddRmsNormQuantV2", add_rms_quant},
    {"aclnnAddRmsNormDynamicQuant", add_rms_dynamic},
    {"aclnnAddRmsNormDynamicQuantV2", add_rms_dynamic},
    {"aclnnRmsNormQuant", rms_quant},
    {"aclnnRmsNormQuantV3", rms_quant},
    {"aclnnAddLayerNorm", add_layer},
    {"aclnnAddLayerNormGrad", add_layer_gradient},
    {"aclnnDeepNorm", deep},
    {"aclnnDeepNormGrad", deep_gradient},
};

}  // namespace

std::span<const Row> add_norm_rows() { return kRows; }

}  // namespace anynpu::aclnn
