// SPDX-License-Identifier: Apache-2.0
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
  NodeAttrs attrs;
  if (b.type().ends_with("Add")) attrs["reduction"] = std::string("add");
  b.out(0, b.node("ScatterND", 16, {b.in(0), b.index(b.in(1)), b.in(2)}, std::move(attrs)));
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

}  // namespace anynpu::singleop
