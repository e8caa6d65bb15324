// SPDX-License-Identifier: Apache-2.0
// Boxes beside boxes, rows beside rows, scores beside classes.
#include <cmath>
#include <limits>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

// One column of boxes [n, 4], as [n, 1].
ValueId column(Builder& b, ValueId boxes, int64_t at) {
  return b.node("Slice", 13, {boxes, b.list({at}), b.list({at + 1}), b.list({1})});
}

ValueId reduced(Builder& b, const char* name, ValueId x, int64_t axis) {
  return b.node(name, 13, {x, b.list({axis})}, {{"keepdims", int64_t{0}}});
}

bool are_boxes(Builder& b, ValueId x, const char* what) {
  if (!b.has_rank(x, what, 2, 2)) return false;
  if (b.shape(x)[1] == 4) return true;
  b.refuse(Code::unsupported_shape, "{} has the shape {}, expected 4 columns", what,
           to_string(b.shape(x)));
  return false;
}

}  // namespace

// Boxes [n, 4] and true boxes [m, 4] -> how much each pair shares, [m, n]: of both, or of the
// first.
void lower_iou(Builder& b) {
  const ValueId given = b.in(0), boxes = widened(b, given), truth = widened(b, b.in(1));
  const std::string mode = b.word("mode", "iou", {"iou", "iof"});
  const float eps = b.f("eps", 1);
  if (!are_boxes(b, boxes, "the boxes") || !are_boxes(b, truth, "the true boxes")) return;
  const int64_t n = b.shape(boxes)[0], m = b.shape(truth)[0];
  const auto of_box = [&](int64_t at) { return b.reshape(column(b, boxes, at), {1, n}); };
  const auto of_truth = [&](int64_t at) { return b.reshape(column(b, truth, at), {m, 1}); };
  const ValueId more = number(b, boxes, eps), zero = number(b, boxes, 0);
  const auto side = [&](ValueId from, ValueId to) { return add(b, sub(b, to, from), more); };
  const auto shared = [&](int64_t from, int64_t to) {
    return b.node("Max", 13,
                  {side(b.node("Max", 13, {of_box(from), of_truth(from)}),
                        b.node("Min", 13, {of_box(to), of_truth(to)})),
                   zero});
  };
  const ValueId both = mul(b, shared(0, 2), shared(1, 3));
  const ValueId own = mul(b, side(of_box(0), of_box(2)), side(of_box(1), of_box(3)));
  const ValueId other = mul(b, side(of_truth(0), of_truth(2)), side(of_truth(1), of_truth(3)));
  const ValueId all = mode == "iof" ? other : sub(b, add(b, own, other), both);
  if (b.ok()) b.out(0, b.cast(div(b, both, all), b.dtype(given)));
}

// Boxes and true boxes -> shifts of centres and logarithms of sizes, moved and scaled.
void lower_box_encode(Builder& b) {
  const ValueId given = b.in(0), boxes = widened(b, given), truth = widened(b, b.in(1));
  auto means = b.floats("means"), stds = b.floats("stds");
  if (means.empty()) means.assign(4, 0);
  if (stds.empty()) stds.assign(4, 1);
  if (!are_boxes(b, boxes, "the boxes") || !are_boxes(b, truth, "the true boxes")) return;
  if (means.size() != 4 || stds.size() != 4) {
    return b.refuse(Code::invalid_argument, "{} means and {} stds, expected 4 each", means.size(),
                    stds.size());
  }
  const auto middle = [&](ValueId x, int64_t at) {
    return mul(b, add(b, column(b, x, at), column(b, x, at + 2)), number(b, x, 0.5));
  };
  const auto size = [&](ValueId x, int64_t at) {
    return add(b, sub(b, column(b, x, at + 2), column(b, x, at)), number(b, x, 1));
  };
  std::vector<ValueId> parts;
  for (int64_t at = 0; at < 2; ++at) {
    parts.push_back(div(b, sub(b, middle(truth, at), middle(boxes, at)), size(boxes, at)));
  }
  for (int64_t at = 0; at < 2; ++at) {
    parts.push_back(b.node("Log", 13, {div(b, size(truth, at), size(boxes, at))}));
  }
  const ValueId made = b.node("Concat", 13, parts, {{"axis", int64_t{1}}});
  const ValueId moved = sub(b, made, b.cast(b.table({4}, means), b.dtype(boxes)));
  if (b.ok())
    b.out(0, b.cast(div(b, moved, b.cast(b.table({4}, stds), b.dtype(boxes))), b.dtype(given)));
}

// Boxes and shifts -> the shifted boxes, within the picture.
void lower_box_decode(Builder& b) {
  const ValueId given = b.in(0), boxes = widened(b, given), shifts = widened(b, b.in(1));
  auto means = b.floats("means"), stds = b.floats("stds");
  const auto most = b.ints("max_shape", {});
  const float clip = b.f("wh_ratio_clip", 0.016f);
  if (means.empty()) means.assign(4, 0);
  if (stds.empty()) stds.assign(4, 1);
  if (!are_boxes(b, boxes, "the boxes") || !are_boxes(b, shifts, "the shifts")) return;
  if (means.size() != 4 || stds.size() != 4 || (!most.empty() && most.size() != 2) || !(clip > 0)) {
    return b.refuse(Code::invalid_argument,
                    "{} means, {} stds, {} numbers in max_shape, wh_ratio_clip {}; expected 4, 4, "
                    "height and width, above 0",
                    means.size(), stds.size(), most.size(), clip);
  }
  const DType type = b.dtype(boxes);
  const ValueId plain =
      add(b, mul(b, shifts, b.cast(b.table({4}, stds), type)), b.cast(b.table({4}, means), type));
  const double bound = std::abs(std::log(double{clip}));
  const auto half = number(b, boxes, 0.5), one = number(b, boxes, 1);
  std::vector<ValueId> low, high;
  for (int64_t at = 0; at < 2; ++at) {
    const ValueId middle = mul(b, add(b, column(b, boxes, at), column(b, boxes, at + 2)), half);
    const ValueId extent = add(b, sub(b, column(b, boxes, at + 2), column(b, boxes, at)), one);
    const ValueId growth =
        b.node("Max", 13,
               {b.node("Min", 13, {column(b, plain, at + 2), number(b, boxes, bound)}),
                number(b, boxes, -bound)});
    const ValueId size = mul(b, extent, b.node("Exp", 13, {growth}));
    const ValueId centre = add(b, middle, mul(b, extent, column(b, plain, at)));
    const auto within = [&](ValueId x) {
      if (most.empty()) return x;
      const auto end = static_cast<double>(most[static_cast<size_t>(1 - at)] - 1);
      return b.node("Max", 13,
                    {b.node("Min", 13, {x, number(b, boxes, end)}), number(b, boxes, 0)});
    };
    const ValueId reach = mul(b, sub(b, size, one), half);
    low.push_back(within(sub(b, centre, reach)));
    high.push_back(within(add(b, centre, reach)));
  }
  const ValueId made =
      b.node("Concat", 13, {low[0], low[1], high[0], high[1]}, {{"axis", int64_t{1}}});
  if (b.ok()) b.out(0, b.cast(made, b.dtype(given)));
}

// Boxes and height, width and scale of a picture -> which boxes lie within it.
void lower_check_valid(Builder& b) {
  const ValueId boxes = widened(b, b.in(0)), picture = widened(b, b.in(1));
  if (!are_boxes(b, boxes, "the boxes") || !b.has_count(picture, "the picture", 3)) return;
  const ValueId row = b.reshape(picture, {3});
  const auto of_picture = [&](int64_t at) {
    return b.node("Slice", 13, {row, b.list({at}), b.list({at + 1})});
  };
  const ValueId scale = of_picture(2), one = number(b, boxes, 1);
  ValueId inside = kNoValue;
  for (int64_t at = 0; at < 4; ++at) {
    const ValueId x = column(b, boxes, at);
    const ValueId end = sub(b, mul(b, of_picture(at % 2 == 0 ? 1 : 0), scale), one);
    const ValueId good = at < 2 ? b.node("GreaterOrEqual", 16, {x, number(b, boxes, 0)})
                                : b.node("LessOrEqual", 16, {x, end});
    inside = inside == kNoValue ? good : b.node("And", 7, {inside, good});
  }
  if (b.ok()) b.out(0, b.reshape(inside, {b.shape(boxes)[0]}), Type::any);
}

// Slices along an axis whose norm is above the limit are scaled down to it.
void lower_renorm(Builder& b) {
  const ValueId given = b.in(0), x = widened(b, given);
  const float p = b.f("p"), limit = b.f("maxnorm");
  if (!b.ok()) return;
  const int64_t axis = b.axis(b.i("dim"), x);
  if (!(p > 0)) return b.refuse(Code::invalid_argument, "p is {}, expected more than 0", p);
  std::vector<int64_t> others;
  for (int64_t d = 0; d < b.rank(x); ++d) {
    if (d != axis) others.push_back(d);
  }
  const ValueId size = b.node("Abs", 13, {x});
  ValueId norm = kNoValue;
  if (std::isinf(p)) {
    norm = b.node("ReduceMax", 18, {size, b.list(others)}, {{"keepdims", int64_t{1}}});
  } else {
    const ValueId total = sum(b, b.node("Pow", 15, {size, number(b, x, p)}), others, true);
    norm = b.node("Pow", 15, {total, number(b, x, 1 / double{p})});
  }
  const ValueId above = b.node("Greater", 13, {norm, number(b, x, limit)});
  const ValueId factor = b.node(
      "Where", 16,
      {above, div(b, number(b, x, limit), add(b, norm, number(b, x, 1e-7))), number(b, x, 1)});
  if (!b.ok()) return;
  // Some programs want the factors, which have one element a slice.
  const bool factors = b.op().outputs[0].shape == b.shape(factor) && b.shape(factor) != b.shape(x);
  b.out(0, b.cast(factors ? factor : mul(b, x, factor), b.dtype(given)));
}

// Scores [n, classes] and classes -> whether each is among the k highest; classes that are not
// there are not.
void lower_in_top_k(Builder& b) {
  const ValueId scores = b.in(0), classes = b.in(1);
  const int64_t k = b.has(2) ? b.in_value(2) : b.i("k");
  if (!b.has_rank(scores, "the scores", 2, 2)) return;
  const int64_t n = b.shape(scores)[0], count = b.shape(scores)[1];
  if (!b.has_count(classes, "the classes", n)) return;
  const ValueId at = b.reshape(b.index(classes), {n, 1}), none = b.whole(DType::i64, 0);
  const ValueId there = b.node("And", 7,
                               {b.node("GreaterOrEqual", 16, {at, none}),
                                b.node("Less", 13, {at, b.whole(DType::i64, count)})});
  const ValueId safe = b.node("Where", 16, {there, at, none});
  const ValueId own = b.node("GatherElements", 13, {scores, safe}, {{"axis", int64_t{1}}});
  const ValueId higher =
      reduced(b, "ReduceSum", b.cast(b.node("Greater", 13, {scores, own}), DType::i32), 1);
  const ValueId endless = b.node("Or", 7, {b.node("IsNaN", 13, {own}), b.node("IsInf", 10, {own})});
  const ValueId fine = b.node("And", 7, {there, b.node("Not", 1, {endless})});
  const ValueId among = b.node("Less", 13, {higher, b.whole(DType::i32, k)});
  b.out(0, b.node("And", 7, {among, b.reshape(fine, {n})}));
}

// Distances of all pairs of rows, each pair once.
void lower_pdist(Builder& b) {
  const ValueId given = b.in(0), x = widened(b, given);
  const float p = b.f("p", 2);
  if (!b.has_rank(x, "x", 2, 2)) return;
  if (!(p >= 0)) return b.refuse(Code::invalid_argument, "p is {}, expected 0 or more", p);
  const int64_t n = b.shape(x)[0];
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) first.push_back(i), second.push_back(j);
  }
  const auto rows = [&](const std::vector<int64_t>& at) {
    return b.node("Gather", 13, {x, b.list(at)}, {{"axis", int64_t{0}}});
  };
  const ValueId gap = b.node("Abs", 13, {sub(b, rows(first), rows(second))});
  ValueId made = kNoValue;
  if (p == 0) {
    made = reduced(b, "ReduceSum",
                   b.cast(b.node("Greater", 13, {gap, number(b, gap, 0)}), DType::f32), 1);
  } else if (std::isinf(p)) {
    made = b.node("ReduceMax", 18, {gap, b.list({1})}, {{"keepdims", int64_t{0}}});
  } else {
    const ValueId sum = reduced(b, "ReduceSum", b.node("Pow", 15, {gap, number(b, gap, p)}), 1);
    made = b.node("Pow", 15, {sum, number(b, gap, 1 / double{p})});
  }
  if (b.ok()) b.out(0, b.cast(made, b.dtype(given)));
}

// Scores [n, classes], true classes and weights: how far other scores come within the margin of the
// true one.
void lower_multi_margin_loss(Builder& b) {
  const ValueId given = b.in(0), x = widened(b, given), classes = b.in(1);
  const int64_t p = b.i("p", 1);
  const std::string how = b.word("reduction", "mean", {"none", "mean", "sum"});
  if (!b.has_rank(x, "x", 2, 2)) return;
  const int64_t n = b.shape(x)[0], count = b.shape(x)[1];
  if (!b.has_count(classes, "the classes", n)) return;
  if (p != 1 && p != 2) return b.refuse(Code::invalid_argument, "p is {}, expected 1 or 2", p);
  const ValueId at = b.reshape(b.index(classes), {n, 1});
  const ValueId own = b.node("GatherElements", 13, {x, at}, {{"axis", int64_t{1}}});
  const ValueId near =
      b.node("Max", 13, {add(b, sub(b, x, own), number(b, x, b.f("margin", 1))), number(b, x, 0)});
  ValueId each = p == 2 ? mul(b, near, near) : near;
  if (b.has(2)) {
    const ValueId weight =
        b.node("Gather", 13, {widened(b, b.in(2)), b.reshape(at, {n})}, {{"axis", int64_t{0}}});
    each = mul(b, each, b.reshape(weight, {n, 1}));
  }
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i));
  const ValueId is_own =
      b.node("Equal", 13, {b.cast(b.table({1, count}, numbers), DType::i64), at});
  const ValueId others = b.node("Where", 16, {is_own, number(b, x, 0), each});
  const ValueId rows =
      div(b, reduced(b, "ReduceSum", others, 1), number(b, x, static_cast<double>(count)));
  if (!b.ok()) return;
  const DType type = b.dtype(given);
  if (how == "none") return b.out(0, b.cast(rows, type));
  const ValueId total = reduced(b, "ReduceSum", rows, 0);
  b.out(0,
        b.cast(how == "sum" ? total : div(b, total, number(b, x, static_cast<double>(n))), type));
}

// The least common multiple.
void lower_lcm(Builder& b) {
  const ValueId x = b.in(0), y = b.in(1);
  const ValueId common = b.node("anynpu.Gcd", 1, {x, y});
  const ValueId safe = b.node("Max", 13, {common, b.ok() ? b.whole(b.dtype(common), 1) : kNoValue});
  b.out(0, b.node("Abs", 13, {mul(b, div(b, x, safe), y)}));
}

// base to the powers from start to end.
void lower_log_space(Builder& b) {
  const ValueId start = b.cast(b.reshape(b.in(0), {1}), DType::f32),
                end = b.cast(b.reshape(b.in(1), {1}), DType::f32);
  const int64_t steps = b.i_between("steps", 10, 0, 1 << 20), base = b.i("base", 10);
  if (!b.ok()) return;
  std::vector<float> parts;
  for (int64_t i = 0; i < steps; ++i) {
    parts.push_back(
        steps == 1 ? 0
                   : static_cast<float>(static_cast<double>(i) / static_cast<double>(steps - 1)));
  }
  const ValueId power = add(b, start, mul(b, sub(b, end, start), b.table({steps}, parts)));
  const DType described = b.op().outputs[0].dtype;
  const ValueId made = b.node("Pow", 15, {b.scalar(DType::f32, static_cast<double>(base)), power});
  b.out(0, b.cast(made, described == DType::undefined ? DType::f32 : described));
}

}  // namespace anynpu::singleop
