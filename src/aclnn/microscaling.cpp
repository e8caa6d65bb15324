// SPDX-License-Identifier: Apache-2.0
#include "aclnn/microscaling.h"

#include <numeric>

namespace anynpu::aclnn {

namespace {

constexpr DType kWide = DType::f32;

Value number_u32(Recipe& r, double v) { return r.constant(DType::u32, v); }
Value number_i64(Recipe& r, int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); }

// The exponent of the largest number of a type.
int64_t largest_exponent(DType type) {
  switch (type) {
    case DType::f8e4m3:
      return 8;
    case DType::f8e5m2:
      return 15;
    case DType::f4e2m1:
      return 2;
    default:
      refuse("elements have type {}; expected float8_e4m3fn, float8_e5m2 or float4_e2m1",
             name_of(type));
  }
}

std::vector<int64_t> axis_to_end(size_t rank, int64_t axis) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  return order;
}

std::vector<int64_t> axis_from_end(size_t rank, int64_t axis) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), int64_t{0});
  order.pop_back();
  order.insert(order.begin() + axis, static_cast<int64_t>(rank) - 1);
  return order;
}

Value at_end(Recipe& r, Value x, int64_t axis) {
  const size_t rank = r.shape(x).size();
  return axis == static_cast<int64_t>(rank) - 1 ? x : r.transpose(x, axis_to_end(rank, axis));
}

Value padded_end(Recipe& r, Value x, int64_t multiple) {
  const Shape s = r.shape(x);
  const int64_t more = (multiple - s.back() % multiple) % multiple;
  if (more == 0) return x;
  Shape tail = s;
  tail.back() = more;
  return r.op("Concat", {x, r.filled(r.dtype(x), tail, 0)},
              {{"axis", static_cast<int64_t>(s.size()) - 1}});
}

// Largest elements to bytes of scales: biased exponents. Infinities and NaN have 255, which is NaN.
Value scale_bytes(Recipe& r, Value largest, const MxRule& rule) {
  const Shape s = r.shape(largest);
  const auto bits_of_floats = [&](Value x) {
    return r.reshape(r.reinterpret(r.reshape(x, {element_count(s), 1}), DType::u32), s);
  };
  const auto exponents = [&](Value bits) {
    return r.cast(r.op("BitShift", {bits, number_u32(r, 23)}, {{"direction", "RIGHT"}}),
                  DType::i64);
  };
  const Value own = exponents(bits_of_floats(largest));
  Value e;
  if (rule.algorithm == 0) {
    e = r.op("Sub", {own, number_i64(r, largest_exponent(rule.type))});
  } else {
    const Value bits =
        bits_of_floats(r.op("Mul", {largest, r.constant(kWide, 1 / largest_of(rule.type))}));
    const Value rest = r.op("BitwiseAnd", {bits, number_u32(r, 0x7fffff)});
    e = r.op("Add",
             {exponents(bits), r.cast(r.op("Greater", {rest, number_u32(r, 0)}), DType::i64)});
  }
  e = r.op("Clip", {e, number_i64(r, 0), number_i64(r, 254)});
  e = r.op("Where", {r.op("Equal", {own, number_i64(r, 255)}), number_i64(r, 255), e});
  return r.cast(e, DType::u8);
}

Value as_powers(Recipe& r, Value bytes) {
  return r.cast(r.reinterpret(bytes, DType::f8e8m0), kWide);
}

struct MxBlocks {
  Value y, bytes;  // y: the shape of x; bytes: a last axis of blocks
};

// Along the last axis.
MxBlocks mx_rows(Recipe& r, Value x, const MxRule& rule) {
  const Shape s = r.shape(x);
  const Value wide = padded_end(r, x, rule.block);
  Shape cut = r.shape(wide);
  const int64_t blocks = cut.back() / rule.block;
  cut.back() = blocks;
  Shape of_blocks = cut;
  cut.push_back(rule.block);
  const Value parts = r.reshape(wide, cut);
  const Value largest =
      r.op("ReduceMax", {r.op("Abs", {parts}), r.constant({static_cast<int64_t>(s.size())})},
           {{"keepdims", 0}});
  const Value bytes = scale_bytes(r, largest, rule);
  of_blocks.push_back(1);
  Value y = r.op("Div", {parts, r.reshape(as_powers(r, bytes), of_blocks)});
  y = r.reshape(y, r.shape(wide));
  if (r.extent(y, -1) != s.back()) y = r.slice(y, static_cast<int64_t>(s.size()) - 1, 0, s.back());
  return {y, bytes};
}

// Bytes with a last axis of blocks to pairs of them, behind all axes.
Value in_pairs(Recipe& r, Value bytes, int64_t axis) {
  Value even = padded_end(r, bytes, 2);
  Shape s = r.shape(even);
  const auto rank = static_cast<int64_t>(s.size());
  s.back() /= 2;
  s.push_back(2);
  even = r.reshape(even, s);
  if (axis == rank - 1) return even;
  std::vector<int64_t> order = axis_from_end(static_cast<size_t>(rank), axis);
  order.push_back(rank);
  return r.transpose(even, order);
}

void out_scales(Recipe& r, Param name, Value bytes) {
  const DType type = r.dtype(name);
  if (type != DType::f8e8m0 && type != DType::u8) {
    refuse("scales have type {}; expected float8_e8m0 or uint8", name_of(type));
  }
  const Shape shape = r.shape(name);
  if (element_count(shape) != element_count(r.shape(bytes))) {
    refuse("scales are {}; expected {} in pairs of blocks", to_string(shape),
           to_string(r.shape(bytes)));
  }
  const Value flat = r.reshape(bytes, shape);
  r.out(name, type == DType::u8 ? flat : r.reinterpret(flat, type));
}

}  // namespace

MxRule mx_rule(Recipe& r, Param out) {
  MxRule rule{r.dtype(out)};
  (void)largest_exponent(rule.type);
  for (const char* name : {"dstType", "dstDtype"}) {
    if (r.has_parameter(name) && r.integer(name) != static_cast<int64_t>(rule.type)) {
      refuse("{} is {}; the result has type {}", name, r.integer(name),
             static_cast<int64_t>(rule.type));
    }
  }
  for (const char* name : {"roundMode", "roundModeOptional"}) {
    if (!r.has_parameter(name)) continue;
    const std::string mode = r.text(name);
    if (!mode.empty() && mode != "rint")
      refuse("{} is '{}'; expected rint (ties to even)", name, mode);
  }
  if (r.has_parameter("blocksize")) rule.block = r.integer("blocksize");
  if (rule.block < 32 || rule.block % 32 != 0)
    refuse("blocksize is {}; expected a multiple of 32", rule.block);
  if (r.has_parameter("scaleAlg")) rule.algorithm = r.integer("scaleAlg");
  if (rule.algorithm != 0 && rule.algorithm != 1) {
    refuse("scaleAlg is {}; expected 0 (OCP) or 1 (rounded up)", rule.algorithm);
  }
  for (const char* name : {"dstTypeMax", "maxDtypeValue", "maxLowBound"}) {
    if (r.has_parameter(name) && !r.equals(name, 0))
      refuse("{} is {}; expected 0", name, r.real(name));
  }
  return rule;
}

void out_mx(Recipe& r, Value x, int64_t axis, const MxRule& rule, Param y, Param scales) {
  const size_t rank = r.shape(x).size();
  const MxBlocks made = mx_rows(r, at_end(r, x, axis), rule);
  Value values = rounded_to(r, made.y, rule.type);
  if (axis != static_cast<int64_t>(rank) - 1)
    values = r.transpose(values, axis_from_end(rank, axis));
  r.out(y, r.reshape(values, r.shape(y)));
  out_scales(r, scales, in_pairs(r, made.bytes, axis));
}

namespace {

Value wide_in(Recipe& r, Param param) { return r.cast(r.in(param), kWide); }

int64_t last_of(Recipe& r, Value x) {
  if (r.shape(x).empty()) refuse("x has no axes; expected at least one");
  return static_cast<int64_t>(r.shape(x).size()) - 1;
}

void dynamic_mx(Recipe& r) {
  const Value x = wide_in(r, "x");
  (void)last_of(r, x);
  out_mx(r, x, r.axis("axis", r.rank("x")), mx_rule(r, "yOut"), "yOut", "mxscaleOut");
}

// Along the last axis, and once more along the one before it.
void both_ways(Recipe& r, Value x) {
  const int64_t last = last_of(r, x);
  if (last < 1) refuse("x has one axis; expected at least two");
  out_mx(r, x, last, mx_rule(r, "y1Out"), "y1Out", "mxscale1Out");
  out_mx(r, x, last - 1, mx_rule(r, "y2Out"), "y2Out", "mxscale2Out");
}

void dynamic_mx_both(Recipe& r) { both_ways(r, wide_in(r, "x")); }

// Squares of 32 x 32 share a scale, which is written for rows and for columns.
void dynamic_block_mx(Recipe& r) {
  const Value x = wide_in(r, "x");
  const MxRule rule = mx_rule(r, "yOut");
  const Shape s = r.shape(x);
  const int64_t last = last_of(r, x);
  if (last < 1) refuse("x has one axis; expected at least two");
  const int64_t rows = s[static_cast<size_t>(last) - 1], columns = s.back(), b = rule.block;
  Value wide = padded_end(r, x, b);
  wide = at_end(r, padded_end(r, at_end(r, wide, last - 1), b), last - 1);
  const int64_t down = r.extent(wide, last - 1) / b, across = r.extent(wide, last) / b;
  const int64_t count = element_count(s) / std::max<int64_t>(rows * columns, 1);
  const Value squares = r.reshape(wide, {count, down, b, across, b});
  const Value largest =
      r.op("ReduceMax", {r.op("Abs", {squares}), r.constant({2, 4})}, {{"keepdims", 1}});
  const Value bytes = scale_bytes(r, largest, rule);
  Value y = r.reshape(r.op("Div", {squares, as_powers(r, bytes)}), {count, down * b, across * b});
  y = r.slice(r.slice(y, 1, 0, rows), 2, 0, columns);
  r.out("yOut", r.reshape(rounded_to(r, y, rule.type), r.shape("yOut")));
  const Value of_rows =
      r.reshape(r.expand(bytes, {count, down, b, across, 1}), {count, down * b, across});
  out_scales(r, "scale1Out", in_pairs(r, r.slice(of_rows, 1, 0, rows), 2));
  Value of_columns =
      r.reshape(r.expand(bytes, {count, down, 1, across, b}), {count, down, across * b});
  of_columns = r.transpose(r.slice(of_columns, 2, 0, columns), {0, 2, 1});
  out_scales(r, "scale2Out", in_pairs(r, of_columns, 1));
}

// Rows in groups whose ends are given: blocks go down the rows and do not cross from one group into
// the next. Scales of group g begin at row (its first row / 64) + g.
void grouped_mx(Recipe& r) {
  const Value x = wide_in(r, "x");
  const MxRule rule = mx_rule(r, "y");
  const Shape s = r.shape(x), scales = r.shape("mxscale");
  if (s.size() != 2 || scales.size() != 3 || scales[1] != s[1] || scales[2] != 2) {
    refuse("x is {} and mxscale {}; expected rows x columns and pairs of blocks x columns x 2",
           to_string(s), to_string(scales));
  }
  const int64_t rows = s[0], columns = s[1], groups = r.tensor("groupIndex").count();
  const Value ends = r.cast(r.reshape(r.in("groupIndex"), {groups}), DType::i64);
  const Value starts =
      r.op("Concat", {r.constant({0}), r.slice(ends, 0, 0, groups - 1)}, {{"axis", 0}});
  const Value row = r.op("Range", {number_i64(r, 0), number_i64(r, rows), number_i64(r, 1)});
  Value group = r.op("SearchSorted", {ends, row}, {{"right", 1}});
  group = r.op("Min", {r.cast(group, DType::i64), number_i64(r, groups - 1)});
  const Value start = r.op("Gather", {starts, group}, {{"axis", 0}});
  const Value pair = number_i64(r, 2 * rule.block);
  const Value first = r.op("Add", {r.op("FloorDivide", {start, pair}), group});
  const Value inside = r.op("FloorDivide", {r.op("Sub", {row, start}), number_i64(r, rule.block)});
  const Value block = r.op("Add", {r.op("Mul", {first, number_i64(r, 2)}), inside});
  const Value index = r.expand(r.reshape(block, {rows, 1}), {rows, columns});
  const int64_t blocks = scales[0] * 2;
  const Value largest =
      r.op("ScatterElements", {r.filled(kWide, {blocks, columns}, 0), index, r.op("Abs", {x})},
           {{"axis", 0}, {"reduction", "max"}});
  const Value bytes = scale_bytes(r, largest, rule);
  const Value powers = r.op("GatherElements", {as_powers(r, bytes), index}, {{"axis", 0}});
  r.out("y", r.reshape(rounded_to(r, r.op("Div", {x, powers}), rule.type), r.shape("y")));
  out_scales(r, "mxscale", r.transpose(r.reshape(bytes, {scales[0], 2, columns}), {0, 2, 1}));
}

// Elements times their scales.
void anti_mx(Recipe& r) {
  const Value x = wide_in(r, "x");
  (void)last_of(r, x);
  const int64_t axis = r.axis("axis", r.rank("x"));
  const Shape s = r.shape(x);
  const int64_t extent = s[static_cast<size_t>(axis)], pairs = (extent + 63) / 64;
  Shape expected = s;
  expected[static_cast<size_t>(axis)] = pairs;
  expected.push_back(2);
  if (r.tensor("mxscale").count() != element_count(expected)) {
    refuse("mxscale is {}; expected {} for x of {}", to_string(r.shape("mxscale")),
           to_string(expected), to_string(s));
  }
  const Value raw = r.in("mxscale");
  Value scale = r.dtype(raw) == DType::u8 ? as_powers(r, raw) : r.cast(raw, kWide);
  scale = r.reshape(scale, expected);
  // The two of a pair stand next to each other along the axis.
  std::vector<int64_t> order;
  for (int64_t i = 0; i < static_cast<int64_t>(s.size()); ++i) {
    order.push_back(i);
    if (i == axis) order.push_back(static_cast<int64_t>(s.size()));
  }
  scale = r.transpose(scale, order);
  Shape split = s, joined = s;
  split[static_cast<size_t>(axis)] = pairs * 2;
  split.insert(split.begin() + axis + 1, 1);
  Shape repeated = split;
  repeated[static_cast<size_t>(axis) + 1] = 32;
  joined[static_cast<size_t>(axis)] = pairs * 64;
  scale = r.reshape(r.expand(r.reshape(scale, split), repeated), joined);
  r.out("y", r.op("Mul", {x, r.slice(scale, axis, 0, extent)}));
}

// x / rms(x) * gamma + beta, then along the last axis.
void rms_norm_mx(Recipe& r) {
  const bool adds = r.has_parameter("x1");
  Value x = wide_in(r, adds ? "x1" : "x");
  if (adds) {
    x = r.op("Add", {x, wide_in(r, "x2")});
    if (r.given("xOut")) r.out("xOut", x);
  }
  const int64_t last = last_of(r, x);
  const Value mean =
      r.op("ReduceMean", {r.op("Mul", {x, x}), r.constant({last})}, {{"keepdims", 1}});
  const Value root = r.op("Sqrt", {r.op("Add", {mean, r.number("epsilon", kWide)})});
  const Value rstd = r.op("Reciprocal", {root});
  Value y = r.op("Mul", {r.op("Mul", {x, rstd}), wide_in(r, "gamma")});
  if (r.given("beta")) y = r.op("Add", {y, wide_in(r, "beta")});
  out_mx(r, y, last, mx_rule(r, "yOut"), "yOut", "mxscaleOut");
  if (r.flag("outputRstd") && r.given("rstdOut"))
    r.out("rstdOut", r.reshape(rstd, r.shape("rstdOut")));
}

struct MxGate {
  Value gate, other;
};

MxGate mx_halves(Recipe& r, Value x, int64_t axis) {
  const int64_t extent = r.extent(x, axis);
  if (extent % 2 != 0) refuse("axis {} has {} elements; expected an even number", axis, extent);
  const Value first = r.slice(x, axis, 0, extent / 2),
              second = r.slice(x, axis, extent / 2, extent);
  return r.flag("activateLeft") ? MxGate{first, second} : MxGate{second, first};
}

void without_groups(Recipe& r) {
  if (r.given("groupIndexOptional"))
    refuse("groupIndexOptional is given; expected null: blocks of groups are not taken");
}

void swiglu_mx(Recipe& r) {
  const Value x = wide_in(r, "x");
  (void)last_of(r, x);
  without_groups(r);
  if (r.integer("swigluMode") != 0) refuse("swigluMode is {}; expected 0", r.integer("swigluMode"));
  const MxGate h = mx_halves(r, x, r.axis("activateDim", r.rank("x")));
  const Value y = r.op("Mul", {r.op("Swish", {h.gate}), h.other});
  out_mx(r, y, r.axis("axis", r.rank("x")), mx_rule(r, "yOut"), "yOut", "mxscaleOut");
}

void swiglu_mx_both(Recipe& r) {
  const Value x = wide_in(r, "x");
  without_groups(r);
  const MxGate h = mx_halves(r, x, last_of(r, x));
  both_ways(r, r.op("Mul", {r.op("Swish", {h.gate}), h.other}));
}

void swiglu_gradient_mx_both(Recipe& r) {
  const Value x = wide_in(r, "x"), dy = wide_in(r, "yGrad");
  without_groups(r);
  const int64_t last = last_of(r, x);
  const MxGate h = mx_halves(r, x, last);
  const Value share = r.op("Sigmoid", {h.gate}), swish = r.op("Mul", {h.gate, share});
  // s + x * s * (1 - s)
  const Value slope =
      r.op("Add", {share, r.op("Mul", {swish, r.op("Sub", {r.constant(kWide, 1), share})})});
  const Value of_gate = r.op("Mul", {r.op("Mul", {dy, h.other}), slope}),
              of_other = r.op("Mul", {dy, swish});
  const bool left = r.flag("activateLeft");
  both_ways(
      r, r.op("Concat", {left ? of_gate : of_other, left ? of_other : of_gate}, {{"axis", last}}));
}

const Row kRows[] = {
    {"aclnnDynamicMxQuant", dynamic_mx},
    {"aclnnDynamicMxQuantV2", dynamic_mx},
    {"aclnnDynamicMxQuantV3", dynamic_mx},
    {"aclnnDynamicMxQuantWithDualAxis", dynamic_mx_both},
    {"aclnnDynamicMxQuantWithDualAxisV2", dynamic_mx_both},
    {"aclnnDynamicBlockMxQuant", dynamic_block_mx},
    {"aclnnGroupedDynamicMxQuant", grouped_mx},
    {"aclnnGroupedDynamicMxQuantV2", grouped_mx},
    {"aclnnAntiMxQuant", anti_mx},
    {"aclnnRmsNormDynamicMxQuant", rms_norm_mx},
    {"aclnnAddRmsNormDynamicMxQuant", rms_norm_mx},
    {"aclnnSwigluMxQuant", swiglu_mx},
    {"aclnnSwigluMxQuantWithDualAxis", swiglu_mx_both},
    {"aclnnSwigluBackwardMxQuantWithDualAxis", swiglu_gradient_mx_both},
};

}  // namespace

std::span<const Row> microscaling_rows() { return kRows; }

}  // namespace anynpu::aclnn
