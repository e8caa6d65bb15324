// SPDX-License-Identifier: Apache-2.0
// Floats to integers and back: with scales that are given, with those of the data, and behind
// gates.
#include <algorithm>

#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

// Scales as they broadcast: of the rank of x, or one for each element of an axis.
Value fitted(Recipe& r, Value scale, const Shape& shape, int64_t axis = -1) {
  const Shape s = r.shape(scale);
  if (s.size() == shape.size()) return scale;
  return along(r, scale, shape, axis);
}

Value directed(Recipe& r, Value x, const std::string& mode) {
  if (mode.empty() || mode == "round" || mode == "rint") return x;
  if (mode == "floor") return r.op("Floor", {x});
  if (mode == "ceil") return r.op("Ceil", {x});
  if (mode == "trunc") return r.op("Trunc", {x});
  refuse("roundMode is '{}'; expected round, floor, ceil or trunc", mode);
}

// x * scale + offset, rounded.
void quant(Recipe& r) {
  const Value x = r.cast(r.in("x"), DType::f32);
  const Shape shape = r.shape(x);
  const int64_t axis = r.has_parameter("axis") ? r.integer("axis") : -1;
  const Value scale = fitted(r, scale_of(r, "scale"), shape, axis);
  Value y = r.op("Mul", {x, scale});
  if (r.flag("sqrtMode")) y = r.op("Mul", {y, scale});
  if (r.given("offset")) y = r.op("Add", {y, fitted(r, scale_of(r, "offset"), shape, axis)});
  out_rounded(r, "y", directed(r, y, r.text("roundMode")));
}

// (x + offset) * scale.
void anti_quant(Recipe& r) {
  Value x = r.cast(unpacked(r, r.in("x")), DType::f32);
  const Shape shape = r.shape(x);
  if (r.given("offset")) x = r.op("Add", {x, fitted(r, scale_of(r, "offset"), shape)});
  const Value scale = fitted(r, scale_of(r, "scale"), shape);
  x = r.op("Mul", {x, scale});
  r.out("y", r.flag("sqrtMode") ? r.op("Mul", {x, scale}) : x);
}

// x / scale + zero point, rounded, as torch.quantize_per_channel.
void quantize(Recipe& r) {
  const Value x = r.cast(r.in("x"), DType::f32);
  const Shape shape = r.shape(x);
  const int64_t axis = r.integer("axis");
  Value y = r.op("Div", {x, along(r, scale_of(r, "scales"), shape, axis)});
  y = r.op("Round", {y});
  if (r.given("zeroPoints")) y = r.op("Add", {y, along(r, scale_of(r, "zeroPoints"), shape, axis)});
  const DType type = r.dtype("out");
  r.out("out", type == DType::i32 ? y : rounded_to(r, y, type));
}

// Which group each of `rows` belongs to: `index` holds the ends of groups, or how many rows each
// has.
Value group_of_rows(Recipe& r, Value index, int64_t rows, bool counts) {
  const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
  Value ends = r.cast(r.reshape(index, {element_count(r.shape(index))}), DType::i64);
  if (counts) ends = r.op("CumSum", {ends, number(0)});
  const Value row = r.op("Range", {number(0), number(rows), number(1)});
  return r.op("SearchSorted", {ends, row}, {{"right", 1}});
}

// Factors of the last axis; with groups a row of them for each, picked for every row of x.
Value of_rows(Recipe& r, Value factors, Param index, int64_t rows, bool counts) {
  const Shape s = r.shape(factors);
  const int64_t width = s.empty() ? 1 : s.back();
  const int64_t groups = element_count(s) / std::max<int64_t>(width, 1);
  if (groups <= 1) return r.reshape(factors, {1, width});
  if (!r.given(index)) refuse("{} rows of factors without the groups they are for", groups);
  return r.op("GatherRows",
              {r.reshape(factors, {groups, width}), group_of_rows(r, r.in(index), rows, counts)});
}

Value flat_rows(Recipe& r, Value x) {
  const Shape s = r.shape(x);
  const int64_t width = s.empty() ? 1 : s.back();
  return r.reshape(x, {element_count(s) / std::max<int64_t>(width, 1), width});
}

// Scales of the data. Without symmetry the smallest and the largest element become the ends.
void dynamic(Recipe& r) {
  const Value given = r.cast(r.in("x"), DType::f32);
  Value x = flat_rows(r, given);
  const DType stored = r.dtype("yOut"), type = stored == DType::i32 ? DType::i4 : stored;
  if (r.given("smoothScalesOptional")) {
    const Value smooth = scale_of(r, "smoothScalesOptional");
    x = r.op("Mul", {x, r.has_parameter("groupIndexOptional")
                            ? of_rows(r, smooth, "groupIndexOptional", r.extent(x, 0), false)
                            : along(r, smooth, r.shape(x), 1)});
  }
  const std::string mode = r.has_parameter("quantMode") ? r.text("quantMode") : "pertoken";
  if (mode != "pertoken" && mode != "pertensor" && !mode.empty()) {
    refuse("quantMode is '{}'; expected pertoken or pertensor", mode);
  }
  const bool offsets = r.has_parameter("offsetOut") && r.given("offsetOut") &&
                       r.tensor("offsetOut").count() > 0 &&
                       !(r.has_parameter("isSymmetrical") && r.flag("isSymmetrical"));
  const Value axes = mode == "pertensor" ? r.constant({0, 1}) : r.constant({1});
  const auto extreme = [&](const char* op, Value v) {
    return r.op(op, {v, axes}, {{"keepdims", 1}});
  };
  double most = largest_of(type);
  if (r.has_parameter("dstTypeMax") && !r.equals("dstTypeMax", 0)) most = r.real("dstTypeMax");
  Value span = extreme("ReduceMax", r.op("Abs", {x}));
  double steps = most;
  const Value top = extreme("ReduceMax", x);
  if (offsets) {
    span = r.op("Sub", {top, extreme("ReduceMin", x)});
    steps = 2 * most + 1;
  }
  const Value scale = r.op("Mul", {span, r.constant(DType::f32, 1 / steps)});
  const Value one = r.constant(DType::f32, 1);
  const Value safe = r.op("Where", {r.op("Equal", {scale, r.constant(DType::f32, 0)}), one, scale});
  Value y = r.op("Div", {x, safe});
  if (offsets) {
    const Value offset = r.op("Sub", {r.constant(DType::f32, most), r.op("Div", {top, safe})});
    y = r.op("Add", {y, offset});
    r.out("offsetOut", r.reshape(offset, r.shape("offsetOut")));
  }
  r.out("scaleOut", r.reshape(scale, r.shape("scaleOut")));
  out_rounded(r, "yOut", r.reshape(y, r.shape(given)));
}

// silu of one half times the other one.
Value gated(Recipe& r, Value x, bool left) {
  const int64_t width = r.extent(x, 1), half = width / 2;
  if (width % 2 != 0) refuse("x has {} columns; expected an even number", width);
  const Value first = r.slice(x, 1, 0, half), second = r.slice(x, 1, half, width);
  return r.op("Mul", {r.op("Swish", {left ? first : second}), left ? second : first});
}

// Quantised rows of what a gate gave: by their largest elements, or with factors that are given.
void write_gated(Recipe& r, Value y, Value scale, Value offset) {
  const std::string mode = r.text("quantModeOptional");
  if (mode == "dynamic" || mode == "dynamic_msd") {
    if (scale) y = r.op("Mul", {y, scale});
    const RowQuantised q = quantise_rows(r, y, r.dtype("yOut"));
    r.out("yOut", r.reshape(q.values, r.shape("yOut")));
    if (r.given("scaleOut")) r.out("scaleOut", r.reshape(q.scales, r.shape("scaleOut")));
    return;
  }
  if (mode != "static") refuse("quantModeOptional is '{}'; expected static or dynamic", mode);
  if (scale) y = r.op("Mul", {y, scale});
  if (offset) y = r.op("Add", {y, offset});
  out_rounded(r, "yOut", r.reshape(y, r.shape("yOut")));
}

void swiglu_quant(Recipe& r) {
  const Value x = flat_rows(r, r.cast(r.in("x"), DType::f32));
  const Value y = gated(r, x, r.flag("activateLeft"));
  const bool counts = r.has_parameter("groupListType") && r.integer("groupListType") == 1;
  const auto factors = [&](const char* name) -> Value {
    if (!r.given(name)) return {};
    return of_rows(r, scale_of(r, name), "groupIndexOptional", r.extent(x, 0), counts);
  };
  write_gated(r, y, factors("smoothScalesOptional"), factors("offsetsOptional"));
}

// Sums of integers become floats, go through a gate and become integers.
void dequant_swiglu_quant(Recipe& r) {
  Value x = flat_rows(r, r.in("x"));
  const int64_t rows = r.extent(x, 0);
  const auto factors = [&](const char* name) -> Value {
    if (!r.given(name)) return {};
    return of_rows(r, scale_of(r, name), "groupIndexOptional", rows, true);
  };
  if (r.has_parameter("swigluMode") && r.integer("swigluMode") != 0) {
    refuse("swigluMode is {}; expected 0", r.integer("swigluMode"));
  }
  const bool whole = r.given("biasOptional") && !is_floating(r.dtype("biasOptional"));
  Value y = r.cast(x, DType::f32);
  const Value bias = factors("biasOptional");
  if (bias && whole) y = r.op("Add", {y, bias});
  if (const Value scale = factors("weightScaleOptional")) y = r.op("Mul", {y, scale});
  if (r.given("activationScaleOptional"))
    y = r.op("Mul", {y, r.reshape(scale_of(r, "activationScaleOptional"), {rows, 1})});
  if (bias && !whole) y = r.op("Add", {y, bias});
  write_gated(r, gated(r, y, r.flag("activateLeft")), factors("quantScaleOptional"),
              factors("quantOffsetOptional"));
}

void gelu_quant(Recipe& r) {
  const std::string approximate = r.text("approximate"), mode = r.text("quantMode");
  const Value x = r.cast(r.in("self"), DType::f32);
  Value y = r.op("Gelu", {x}, {{"approximate", approximate == "tanh" ? "tanh" : "none"}});
  if (r.given("inputScaleOptional"))
    y = r.op("Mul", {y, fitted(r, scale_of(r, "inputScaleOptional"), r.shape(x))});
  if (mode == "dynamic") {
    const RowQuantised q = quantise_rows(r, y, r.dtype("y"));
    r.out("y", q.values);
    return r.out("outScaleOptional", r.reshape(q.scales, r.shape("outScaleOptional")));
  }
  if (mode != "static") refuse("quantMode is '{}'; expected static or dynamic", mode);
  if (r.given("inputOffsetOptional"))
    y = r.op("Add", {y, fitted(r, scale_of(r, "inputOffsetOptional"), r.shape(x))});
  out_rounded(r, "y", y);
}

// Each group of rows with scales and offsets of its own.
void group_quant(Recipe& r) {
  Value x = flat_rows(r, r.cast(r.in("x"), DType::f32));
  const int64_t rows = r.extent(x, 0);
  x = r.op("Mul", {x, of_rows(r, scale_of(r, "scale"), "groupIndex", rows, false)});
  if (r.given("offsetOptional"))
    x = r.op("Add", {x, along(r, scale_of(r, "offsetOptional"), r.shape(x), 1)});
  out_rounded(r, "y", r.reshape(x, r.shape("x")));
}

// Sums of integers as floats: times the scales of columns and of rows.
void dequant_bias(Recipe& r) {
  Value x = r.in("x");
  const Shape shape = r.shape(x);
  const bool whole = r.given("biasOptional") && !is_floating(r.dtype("biasOptional"));
  const auto bias = [&] { return along(r, r.cast(r.in("biasOptional"), r.dtype(x)), shape, -1); };
  if (whole) x = r.op("Add", {x, bias()});
  x = r.op("Mul", {r.cast(x, DType::f32), along(r, scale_of(r, "weightScale"), shape, -1)});
  if (r.given("activateScaleOptional"))
    x = r.op("Mul", {x, along(r, scale_of(r, "activateScaleOptional"), shape, 0)});
  if (r.given("biasOptional") && !whole) x = r.op("Add", {x, bias()});
  r.out("out", x);
}

// A float32 in the lower half of 64 bits as the matrix unit reads it: 19 bits of it, a bit that
// says so, and an offset of 9 bits.
void scale_words(Recipe& r) {
  const Value scale = r.cast(r.in("scale"), DType::f32);
  const Shape shape = r.shape(scale);
  const int64_t count = element_count(shape);
  const auto word = [&](double value) { return r.constant(DType::u64, value); };
  const Value bits = r.cast(r.reinterpret(r.reshape(scale, {count}), DType::u32), DType::u64);
  Value y = r.op("BitwiseAnd", {bits, word(4294959104.0)});  // 0xffffe000
  y = r.op("BitwiseOr", {y, word(70368744177664.0)});        // 1 << 46
  if (r.given("offset") && r.tensor("offset").count() > 0) {
    const Value offset = rounded_to(r, r.cast(r.in("offset"), DType::f32), DType::i16);
    const Value limited =
        r.op("Clip", {offset, r.constant(DType::i16, -256), r.constant(DType::i16, 255)});
    const Value low =
        r.op("BitwiseAnd", {r.cast(limited, DType::i64), r.constant(DType::i64, 511)});
    const Value high = r.op("Mul", {low, r.constant(DType::i64, 137438953472.0)});  // 1 << 37
    const Value wide = r.cast(r.reshape(high, {r.tensor("offset").count()}), DType::u64);
    y = r.op("BitwiseOr", {y, wide});
  }
  r.out("out", r.reshape(y, r.shape("out")));
}

// Integers of 32 bits, each between -8 and 7, as eight in one.
void pack_weights(Recipe& r) {
  const Value x = r.in("weight");
  const DType to = r.dtype("weightInt4Pack");
  const Value packed = r.cast(x, DType::i4);
  r.out("weightInt4Pack", r.reshape(r.reinterpret(packed, to), r.shape("weightInt4Pack")));
}

// Rounded to a grid and back, and where an element was inside of it.
void fake_quant(Recipe& r) {
  const Value x = r.cast(r.in("self"), DType::f32);
  const Shape shape = r.shape(x);
  const int64_t axis = r.has_parameter("axis") ? r.integer("axis") : -1;
  const Value scale = along(r, scale_of(r, "scale"), shape, axis);
  const Value zero = along(r, scale_of(r, "zeroPoint"), shape, axis);
  const auto bound = [&](const char* name) { return r.number(name, DType::f32); };
  const Value low = bound("quantMin"), high = bound("quantMax");
  const Value steps = r.op("Add", {r.op("Round", {r.op("Div", {x, scale})}), zero});
  const Value inside =
      r.op("And", {r.op("GreaterOrEqual", {steps, low}), r.op("LessOrEqual", {steps, high})});
  const Value limited = r.op("Min", {r.op("Max", {steps, low}), high});
  Value y = r.op("Mul", {r.op("Sub", {limited, zero}), scale});
  Value mask = inside;
  if (r.has_parameter("fakeQuantEnbled") && r.equals("fakeQuantEnbled", 0)) {
    y = x;
    mask = r.filled(DType::boolean, shape, 1);
  }
  r.out("out", y);
  r.out("mask", mask);
}

// Each matrix of x between two others, then as integers of 4 bits with a scale of its own.
void flat_quant(Recipe& r) {
  const Shape s = r.shape("x");
  if (r.has_parameter("dstTypeMax") && !r.equals("dstTypeMax", 0)) {
    refuse("dstTypeMax is {}; expected 0, integers of 4 bits", r.real("dstTypeMax"));
  }
  if (s.size() != 3) refuse("x has {} axes; expected a batch of matrices", s.size());
  const auto matrix = [&](const char* name) { return r.cast(r.in(name), DType::f32); };
  Value y = r.op("MatMul", {matrix("kroneckerP1"), r.cast(r.in("x"), DType::f32)});
  y = r.op("MatMul", {y, matrix("kroneckerP2")});
  const Value most = r.op("ReduceMax", {r.op("Abs", {y}), r.constant({1, 2})}, {{"keepdims", 1}});
  const Value scale = r.op(
      "Mul", {most, r.op("Div", {r.number("clipRatio", DType::f32), r.constant(DType::f32, 7)})});
  const Value none = r.op("Equal", {scale, r.constant(DType::f32, 0)});
  const Value safe = r.op("Where", {none, r.constant(DType::f32, 1), scale});
  out_rounded(r, "out", r.op("Div", {y, safe}));
  r.out("quantScale", r.reshape(scale, r.shape("quantScale")));
}

// Parts of every row, as long as the matrix is wide, are multiplied by it; then rows become
// integers.
void rotate_quant(Recipe& r) {
  const Shape s = r.shape("x"), turn = r.shape("rotation");
  const DType stored = r.dtype("yOut");
  const int64_t axis = r.axis("axis", s.size());
  if (s.size() != 2 || turn.size() != 2 || turn[0] != turn[1] || turn[0] < 1 ||
      s[1] % turn[0] != 0 || axis != 1) {
    refuse(
        "x is {}, rotation {} and axis {}; expected rows, a square matrix whose width divides "
        "theirs, and the last "
        "axis",
        to_string(s), to_string(turn), r.integer("axis"));
  }
  if (stored != DType::i8 && stored != DType::i4 && stored != DType::i32) {
    refuse("yOut is {}; expected int8, int4 or eight int4 in an int32", name_of(stored));
  }
  if (r.given("alpha") || r.integer("scaleAlg") != 0 || !r.equals("dstTypeMax", 0) ||
      r.flag("trans")) {
    refuse("alpha is {}, scaleAlg {}, dstTypeMax {} and trans {}; expected null, 0, 0 and false",
           r.given("alpha") ? "given" : "null", r.integer("scaleAlg"), r.real("dstTypeMax"),
           r.flag("trans"));
  }
  const Value parts = r.reshape(r.cast(r.in("x"), DType::f32), {s[0], s[1] / turn[0], turn[0]});
  const Value y = r.reshape(r.op("MatMul", {parts, r.cast(r.in("rotation"), DType::f32)}), s);
  const Value most = r.op("ReduceMax", {r.op("Abs", {y}), r.constant({1})}, {{"keepdims", 1}});
  const double largest = largest_of(stored == DType::i32 ? DType::i4 : stored);
  const Value scale = r.op("Div", {most, r.constant(DType::f32, largest)});
  const Value none = r.op("Equal", {scale, r.constant(DType::f32, 0)});
  const Value safe = r.op("Where", {none, r.constant(DType::f32, 1), scale});
  out_rounded(r, "yOut", directed(r, r.op("Div", {y, safe}), r.text("roundMode")));
  r.out("scaleOut", r.reshape(scale, r.shape("scaleOut")));
}

const Row kRows[] = {
    {"aclnnAscendQuant", quant},
    {"aclnnAscendQuantV3", quant},
    {"aclnnAscendAntiQuant", anti_quant},
    {"aclnnQuantize", quantize},
    {"aclnnDynamicQuant", dynamic},
    {"aclnnDynamicQuantV2", dynamic},
    {"aclnnDynamicQuantV3", dynamic},
    {"aclnnDynamicQuantV4", dynamic},
    {"aclnnSwiGluQuant", swiglu_quant},
    {"aclnnSwiGluQuantV2", swiglu_quant},
    {"aclnnDequantSwigluQuant", dequant_swiglu_quant},
    {"aclnnDequantSwigluQuantV2", dequant_swiglu_quant},
    {"aclnnGeluQuant", gelu_quant},
    {"aclnnGroupQuant", group_quant},
    {"aclnnFlatQuant", flat_quant},
    {"aclnnFlatQuantV2", flat_quant},
    {"aclnnRotateQuant", rotate_quant},
    {"aclnnDequantBias", dequant_bias},
    {"aclnnTransQuantParamV2", scale_words},
    {"aclnnTransQuantParamV3", scale_words},
    {"aclnnConvertWeightToINT4Pack", pack_weights},
    {"aclnnFakeQuantPerTensorAffineCachemask", fake_quant},
    {"aclnnFakeQuantPerChannelAffineCachemask", fake_quant},
};

}  // namespace

std::span<const Row> quantize_rows() { return kRows; }

}  // namespace anynpu::aclnn
