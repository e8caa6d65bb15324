// SPDX-License-Identifier: Apache-2.0
// Quantised by blocks with a float scale of each, by one scale for all, and where indices say. What
// these names mean comes from memory (docs/aclnn.md).
#include <algorithm>

#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kComputed = DType::f32;

Value whole_number(Recipe& r, int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); }

// Rounding to 8-bit floats is to the nearest, ties to even.
void check_rounding(Recipe& r, const char* name) {
  if (!r.has_parameter(name)) return;
  const std::string mode = r.text(name);
  if (!mode.empty() && mode != "rint")
    refuse("{} is '{}'; expected rint (ties to even)", name, mode);
}

struct BlockSizes {
  int64_t rows = 1, columns = 1;
};
BlockSizes block_sizes(Recipe& r) {
  const BlockSizes b{r.integer("rowBlockSize"), r.integer("colBlockSize")};
  if (b.rows < 1 || b.columns < 1) {
    refuse("rowBlockSize is {} and colBlockSize {}; expected at least 1", b.rows, b.columns);
  }
  return b;
}

double largest_wanted(Recipe& r) {
  if (r.has_parameter("dstTypeMax") && !r.equals("dstTypeMax", 0)) return r.real("dstTypeMax");
  return largest_of(r.dtype("yOut"));
}

// max(largest / most, minScale); blocks of zeros have what is left of that.
Value scales_of_blocks(Recipe& r, Value largest, double most) {
  const Value scale = r.op("Mul", {largest, r.constant(kComputed, 1 / most)});
  return r.op("Max", {scale, r.number("minScale", kComputed)});
}

Value over_scales(Recipe& r, Value x, Value scales) {
  const Value none = r.op("Equal", {scales, r.constant(kComputed, 0)});
  return r.op("Div", {x, r.op("Where", {none, r.constant(kComputed, 1), scales})});
}

void dynamic_block(Recipe& r) {
  check_rounding(r, "roundModeOptional");
  const BlockSizes b = block_sizes(r);
  const Value x = r.cast(r.in("x"), kComputed);
  const Shape s = r.shape(x);
  if (s.size() < 2) refuse("x is {}; expected rows and columns", to_string(s));
  const int64_t rows = s[s.size() - 2], columns = s.back();
  const int64_t count = element_count(s) / std::max<int64_t>(rows * columns, 1);
  const int64_t down = (rows + b.rows - 1) / b.rows, across = (columns + b.columns - 1) / b.columns;
  Value wide = r.reshape(x, {count, rows, columns});
  if (down * b.rows != rows || across * b.columns != columns) {
    wide =
        r.op("Pad",
             {wide, r.constant({0, 0, 0, 0, down * b.rows - rows, across * b.columns - columns})});
  }
  const Value squares = r.reshape(wide, {count, down, b.rows, across, b.columns});
  const Value largest =
      r.op("ReduceMax", {r.op("Abs", {squares}), r.constant({2, 4})}, {{"keepdims", 1}});
  const Value scales = scales_of_blocks(r, largest, largest_wanted(r));
  Value y = r.reshape(over_scales(r, squares, scales), {count, down * b.rows, across * b.columns});
  y = r.slice(r.slice(y, 1, 0, rows), 2, 0, columns);
  r.out("yOut", r.reshape(rounded_to(r, y, r.dtype("yOut")), r.shape("yOut")));
  r.out("scaleOut", r.reshape(scales, r.shape("scaleOut")));
}

// Rows in groups whose ends are given. Scales of group g begin at row (its first row /
// rowBlockSize) + g.
void grouped_block(Recipe& r) {
  check_rounding(r, "roundModeOptional");
  const BlockSizes b = block_sizes(r);
  if (r.integer("groupListType") != 0) {
    refuse("groupListType is {}; expected 0: the ends of groups", r.integer("groupListType"));
  }
  const Value x = r.cast(r.in("x"), kComputed);
  const Shape s = r.shape(x), scales = r.shape("scaleOut");
  if (s.size() != 2 || scales.size() != 2 || scales[1] != (s[1] + b.columns - 1) / b.columns) {
    refuse(
        "x is {} and scaleOut {}; expected rows and columns, and a column of scales for {} columns",
        to_string(s), to_string(scales), b.columns);
  }
  const int64_t rows = s[0], groups = r.tensor("groupList").count();
  const Value ends = r.cast(r.reshape(r.in("groupList"), {groups}), DType::i64);
  const Value starts =
      r.op("Concat", {r.constant({0}), r.slice(ends, 0, 0, groups - 1)}, {{"axis", 0}});
  const Value row = r.op("Range", {whole_number(r, 0), whole_number(r, rows), whole_number(r, 1)});
  Value group = r.cast(r.op("SearchSorted", {ends, row}, {{"right", 1}}), DType::i64);
  group = r.op("Min", {group, whole_number(r, groups - 1)});
  const Value start = r.op("Gather", {starts, group}, {{"axis", 0}}),
              size = whole_number(r, b.rows);
  const Value block = r.op("Add", {r.op("Add", {r.op("FloorDivide", {start, size}), group}),
                                   r.op("FloorDivide", {r.op("Sub", {row, start}), size})});
  const int64_t across = scales[1], columns = across * b.columns;
  const Value wide = columns == s[1] ? x : r.op("Pad", {x, r.constant({0, 0, 0, columns - s[1]})});
  const Value parts = r.reshape(wide, {rows, across, b.columns});
  const Value of_rows =
      r.op("ReduceMax", {r.op("Abs", {parts}), r.constant({2})}, {{"keepdims", 0}});
  const Value index = r.expand(r.reshape(block, {rows, 1}), {rows, across});
  const Value largest = r.op("ScatterElements", {r.filled(kComputed, scales, 0), index, of_rows},
                             {{"axis", 0}, {"reduction", "max"}});
  const Value made = scales_of_blocks(r, largest, largest_wanted(r));
  const Value own = r.op("GatherElements", {made, index}, {{"axis", 0}});
  Value y = r.reshape(over_scales(r, parts, r.reshape(own, {rows, across, 1})), {rows, columns});
  y = r.slice(y, 1, 0, s[1]);
  r.out("yOut", r.reshape(rounded_to(r, y, r.dtype("yOut")), r.shape("yOut")));
  r.out("scaleOut", made);
}

// x * scale, and the largest of x.
void quant_max(Recipe& r) {
  check_rounding(r, "roundMode");
  const Value x = r.cast(r.in("x"), kComputed);
  Ints axes;
  for (size_t i = 0; i < r.rank("x"); ++i) axes.push_back(static_cast<int64_t>(i));
  const Value scale = r.cast(r.in("scale"), kComputed);
  if (element_count(r.shape(scale)) != 1)
    refuse("scale is {}; expected one number", to_string(r.shape(scale)));
  r.out("y", rounded_to(r, r.op("Mul", {x, r.reshape(scale, {})}), r.dtype("y")));
  const Value largest = r.op("ReduceMax", {r.op("Abs", {x}), r.constant(axes)}, {{"keepdims", 0}});
  r.out("amax", r.reshape(largest, r.shape("amax")));
}

// The same by groups of rows; groupList holds their ends.
void grouped_quant_max(Recipe& r) {
  check_rounding(r, "roundMode");
  const Shape s = r.shape("x"), of_ends = r.shape("groupList"), of_scale = r.shape("scale");
  if (s.empty() || of_ends.size() != 1 || of_scale != of_ends || of_ends[0] < 1) {
    refuse("x is {}, groupList {} and scale {}; expected rows, and a scale for each group",
           to_string(s), to_string(of_ends), to_string(of_scale));
  }
  const int64_t rows = s[0], width = element_count({s.begin() + 1, s.end()}), groups = of_ends[0];
  const Value x = r.reshape(r.cast(r.in("x"), kComputed), {rows, width});
  const Value row = r.op("Range", {whole_number(r, 0), whole_number(r, rows), whole_number(r, 1)});
  const Value group =
      r.op("SearchSorted", {r.cast(r.in("groupList"), DType::i64), row}, {{"right", 1}});
  const Value scale = r.op("Gather", {r.cast(r.in("scale"), kComputed), group}, {{"axis", 0}});
  const Value y = r.op("Mul", {x, r.reshape(scale, {rows, 1})});
  r.out("y", r.reshape(rounded_to(r, y, r.dtype("y")), s));
  const Value largest = r.op("ReduceMax", {r.op("Abs", {x}), r.constant({1})}, {{"keepdims", 0}});
  const Value made = r.op("ScatterElements", {r.filled(kComputed, {groups}, 0), group, largest},
                          {{"axis", 0}, {"reduction", "max"}});
  r.out("amax", r.reshape(made, r.shape("amax")));
}

// Updates become integers of self's type and are written along an axis, for each sample at its
// index.
void quant_scatter(Recipe& r) {
  if (r.has_parameter("roundMode") && !r.text("roundMode").empty() &&
      r.text("roundMode") != "rint") {
    refuse("roundMode is '{}'; expected rint", r.text("roundMode"));
  }
  if (r.integer("reduction") != 1 && r.integer("reduction") != 0) {
    refuse("reduction is {}; expected 1: elements are replaced", r.integer("reduction"));
  }
  const Shape s = r.shape("selfRef"), u = r.shape("updates");
  const size_t rank = s.size();
  const int64_t axis = r.axis("axis", rank), across = r.axis("quantAxis", rank);
  const Value updates = r.cast(r.in("updates"), kComputed);
  Value y = r.op("Div", {updates, along(r, scale_of(r, "quantScales"), u, across)});
  if (r.given("quantZeroPoints"))
    y = r.op("Add", {y, along(r, scale_of(r, "quantZeroPoints"), u, across)});
  y = rounded_to(r, y, r.dtype("selfRef"));
  const Shape of_index = r.shape("indices");
  if (u.size() != rank || axis == 0 || of_index.size() != 1 || of_index[0] != u[0]) {
    refuse(
        "selfRef is {}, updates {} and indices {}; expected as many axes, an index for each sample "
        "and an "
        "axis that is not 0",
        to_string(s), to_string(u), to_string(of_index));
  }
  // Row `index + i` of the axis for row i of the updates.
  Shape column(rank, 1), line(rank, 1);
  column[0] = u[0];
  line[static_cast<size_t>(axis)] = u[static_cast<size_t>(axis)];
  const Value first = r.reshape(r.cast(r.in("indices"), DType::i64), column);
  const Value step =
      r.op("Range",
           {whole_number(r, 0), whole_number(r, u[static_cast<size_t>(axis)]), whole_number(r, 1)});
  const Value index = r.expand(r.op("Add", {first, r.reshape(step, line)}), u);
  r.out("selfRef", r.op("ScatterElements", {r.in("selfRef"), index, y}, {{"axis", axis}}));
}

const Row kRows[] = {
    {"aclnnDynamicBlockQuant", dynamic_block},
    {"aclnnDynamicBlockQuantV2", dynamic_block},
    {"aclnnGroupedDynamicBlockQuant", grouped_block},
    {"aclnnGroupedDynamicBlockQuantV2", grouped_block},
    {"aclnnQuantMax", quant_max},
    {"aclnnGroupedQuantMax", grouped_quant_max},
    {"aclnnInplaceQuantScatter", quant_scatter},
    {"aclnnInplaceQuantScatterV2", quant_scatter},
};

}  // namespace

std::span<const Row> block_quant_rows() { return kRows; }

}  // namespace anynpu::aclnn
