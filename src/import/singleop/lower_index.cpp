// SPDX-License-Identifier: Apache-2.0
#include "import/limit_of.h"
#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {
using Type = Builder::Type;
}

void lower_gather(Builder& b) {
  int64_t axis = 0;
  if (b.type() == "GatherV2D") axis = b.i("axis");
  if (b.type() == "GatherV2") axis = b.in_value(2);
  if (b.i("batch_dims", 0) != 0)
    return b.refuse(Code::unsupported_feature, "batch_dims is {}, expected 0",
                    b.i("batch_dims", 0));
  b.out(0, b.node("Gather", 13, {b.in(0), b.in(1)}, {{"axis", axis}}));
}

void lower_gather_elements(Builder& b) {
  // GatherD has the axis as its second input as well.
  const bool between = b.type() == "GatherD" && b.input_count() > 2;
  int64_t axis = b.i("dim", 0);
  if (between) {
    if (!b.has_count(b.in_row(1), "input 1", 1)) return;
    if (b.is_known(1)) axis = b.in_value(1);
    if (b.has_attr("dim")) b.counts("dim", axis, "is the value of input 1");
  }
  b.out(0, b.node("GatherElements", 13, {b.in(0), b.in(between ? 2 : 1)}, {{"axis", axis}}));
}

void lower_gather_nd(Builder& b) { b.out(0, b.node("GatherND", 13, {b.in(0), b.index(b.in(1))})); }

void lower_scatter_elements(Builder& b) {
  NodeAttrs attrs{{"axis", b.i("axis", 0)}};
  const std::string reduction = b.s("reduction", "none");
  if (reduction != "none") attrs["reduction"] = reduction == "update" ? "none" : reduction;
  b.out(0, b.node("ScatterElements", 16, {b.in(0), b.in(1), b.in(2)}, std::move(attrs)));
}

// Updates of x, or of zeros of a given shape.
void lower_scatter_nd(Builder& b) {
  if (b.type() == "ScatterNd" || b.type() == "ScatterNdD") {
    const ValueId updates = b.in(1);
    const ValueId shape = b.type() == "ScatterNd" ? b.in_row(2) : b.list(b.ints("shape"));
    const ValueId zeros = b.node("Expand", 13, {b.scalar(b.dtype(updates), 0), shape});
    return b.out(0, b.node("ScatterND", 16, {zeros, b.index(b.in(0)), updates},
                           {{"reduction", std::string("add")}}));
  }
  const std::string& type = b.type();
  NodeAttrs attrs;
  if (type.ends_with("Add") || type.ends_with("Sub")) attrs["reduction"] = std::string("add");
  if (type.ends_with("Max")) attrs["reduction"] = std::string("max");
  if (type.ends_with("Min")) attrs["reduction"] = std::string("min");
  const ValueId updates = type.ends_with("Sub") ? b.node("Neg", 13, {b.in(2)}) : b.in(2);
  b.out(0, b.node("ScatterND", 18, {b.in(0), b.index(b.in(1)), updates}, std::move(attrs)));
}

// x, depth, on, off; OneHotD has the depth as an attribute.
void lower_one_hot(Builder& b) {
  const bool attribute = b.type() == "OneHotD";
  const ValueId depth = attribute ? b.list({b.i("depth")}) : b.reshape(b.index(b.in(1)), {1});
  const size_t on = attribute ? 1 : 2;
  const ValueId values =
      b.node("Concat", 13, {b.reshape(b.in(on + 1), {1}), b.reshape(b.in(on), {1})},
             {{"axis", int64_t{0}}});
  b.out(0, b.node("OneHot", 11, {b.index(b.in(0)), depth, values}, {{"axis", b.i("axis", -1)}}));
}

void lower_select(Builder& b) {
  if (!b.has_type(b.in(0), "the condition", {DType::boolean, DType::i8, DType::u8})) return;
  b.out(0, b.node("Where", 9, {b.cast(b.in(0), DType::boolean), b.in(1), b.in(2)}));
}

// One row per element that is not 0.
void lower_where(Builder& b) {
  b.out(0, b.node("Transpose", 13, {b.node("NonZero", 13, {b.in(0)})}), Type::any);
}

void lower_non_zero(Builder& b) {
  const ValueId columns = b.node("NonZero", 13, {b.in(0)});
  b.out(0, b.flag("transpose", false) ? columns : b.node("Transpose", 13, {columns}), Type::any);
}

// The values in the order they come, and where each is among them; counts with the third output.
void lower_unique(Builder& b) {
  const auto made = b.nodes("Unique", 11, {b.in(0)}, 4, {{"sorted", int64_t{0}}});
  b.out(0, made[0]);
  b.out(1, made[2], Type::any);
  if (b.type() == "UniqueWithCounts") b.out(2, made[3], Type::any);
}

// Rows added up by number; rows with a negative number are left out.
void lower_segment(Builder& b) {
  const ValueId x = b.in(0), ids = b.index(b.in(1));
  const auto given = b.has(2) ? b.in_values(2) : std::vector<int64_t>{b.i("num_segments")};
  if (!b.ok() || given.size() != 1 || given[0] < 0 || b.rank(ids) > b.rank(x)) {
    return b.refuse(Code::unsupported_shape,
                    "expected one number of segments, and an id for each row of x");
  }
  const int64_t count = given[0], lead = element_count(b.shape(ids));
  const int64_t each = element_count(Shape(b.shape(x).begin() + b.rank(ids), b.shape(x).end()));
  const bool most = b.type() == "UnsortedSegmentMax", least = b.type() == "UnsortedSegmentMin",
             product = b.type() == "UnsortedSegmentProd";
  const ValueId first =
      most || least ? limit_of(b, b.dtype(x), most) : b.scalar(b.dtype(x), product ? 1 : 0);
  const ValueId last = b.whole(DType::i64, count);
  const ValueId valid = b.node("Less", 13, {ids, b.scalar(DType::i64, 0)});
  const ValueId rows = b.reshape(b.node("Where", 16, {valid, last, ids}), {lead, 1});
  const ValueId start = b.node("Expand", 13, {first, b.list({count + 1, each})});
  const std::string how = most ? "max" : least ? "min" : product ? "mul" : "add";
  const ValueId sums =
      b.node("ScatterND", 18, {start, rows, b.reshape(x, {lead, each})}, {{"reduction", how}});
  Shape wide(b.shape(x).begin() + b.rank(ids), b.shape(x).end());
  wide.insert(wide.begin(), count);
  b.out(0, b.reshape(b.node("Slice", 13, {sums, b.list({0}), b.list({count}), b.list({0})}), wide));
}

}  // namespace anynpu::singleop
