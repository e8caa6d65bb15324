// SPDX-License-Identifier: Apache-2.0
// Products of groups of rows with matrices of their own: GroupedMatmul in all its versions.
#include "aclnn/grouped.h"

#include <algorithm>

#include "aclnn/quantized.h"

namespace anynpu::aclnn {

GroupWeights group_weights(Recipe& r, Param name, bool turned) {
  GroupWeights w;
  const size_t count = r.is_list(name) ? r.length_if(name) : 1;
  for (size_t i = 0; i < count; ++i) {
    bool stored = false;
    Value x = r.is_list(name) ? r.matrix(name, i, stored) : r.matrix(name, stored);
    x = unpacked(r, x);
    if (i > 0 && stored != w.turned) {
      x = r.transpose(x, {1, 0});
      stored = w.turned;
    }
    w.turned = stored;
    w.matrices.push_back(x);
  }
  if (w.matrices.empty()) refuse("weight has no tensors; expected at least one");
  const Shape s = r.shape(w.matrices[0]);
  if (s.size() < 2 || s.size() > 3) refuse("a weight is {}; expected 2 or 3 axes", to_string(s));
  w.turned = w.turned != turned;
  w.groups = s.size() == 3 ? s[0] : static_cast<int64_t>(count);
  w.k = s[s.size() - (w.turned ? 1 : 2)], w.n = s[s.size() - (w.turned ? 2 : 1)];
  return w;
}

Value of_groups(Recipe& r, const char* name, const GroupWeights& w, bool parts) {
  if (!r.has_parameter(name) || !r.given(name)) return {};
  std::vector<Value> each;
  if (r.is_list(name)) {
    for (size_t i = 0; i < r.length_if(name); ++i) {
      if (!r.given(name, i) || r.tensor(name, i).count() == 0) return {};
      each.push_back(scale_of(r, r.in(name, i)));
    }
  } else if (r.tensor(name).count() > 0) {
    each.push_back(scale_of(r, name));
  }
  if (each.empty()) return {};
  for (Value& x : each) x = r.reshape(x, {element_count(r.shape(x))});
  const Value all = each.size() == 1 ? each[0] : r.op("Concat", each, {{"axis", 0}});
  const int64_t count = element_count(r.shape(all));
  const bool whole = w.n > 0 && count % (w.groups * w.n) == 0;
  if (!whole && count != w.groups && count != 1) {
    refuse("{} has {} values; expected {} for each of {} groups", name, count, w.n, w.groups);
  }
  const int64_t pieces = whole ? count / (w.groups * w.n) : 1;
  if (pieces > 1 && !parts) {
    refuse("{} has {} values; expected {} for each of {} groups", name, count, w.n, w.groups);
  }
  const int64_t last = whole ? w.n : 1;
  if (count == 1) {
    const Value one = r.reshape(all, parts ? Shape{1, 1, 1} : Shape{1, 1});
    return r.expand(one, parts ? Shape{w.groups, 1, 1} : Shape{w.groups, 1});
  }
  return r.reshape(all, parts ? Shape{w.groups, pieces, last} : Shape{w.groups, last});
}

Value group_activated(Recipe& r, Value x, int64_t kind) {
  switch (kind) {
    case 0:
      return x;
    case 1:
      return r.op("Relu", {x});
    case 2:
      return r.op("Gelu", {x}, {{"approximate", "tanh"}});
    case 3:
      return r.op("Gelu", {x});
    case 4: {  // x * sigmoid(1.702 x)
      const Value s = r.op("Sigmoid", {r.op("Mul", {x, r.constant(DType::f32, 1.702)})});
      return r.op("Mul", {x, s});
    }
    case 5:
      return r.op("Swish", {x});
    default:
      refuse("actType is {}; expected 0 to 5", kind);
  }
}

Value multiply_groups(Recipe& r, const GroupWeights& w, const GroupProduct& p) {
  std::vector<Value> inputs = {p.exact ? p.x : r.cast(p.x, DType::f32),
                               p.sizes,
                               p.scale,
                               p.offset,
                               p.bias,
                               p.out_scale,
                               p.row_scale};
  inputs.insert(inputs.end(), w.matrices.begin(), w.matrices.end());
  return r.op("GroupedMatMul", inputs,
              {{"transB", w.turned},
               {"axis", p.axis},
               {"list_type", p.list_type},
               {"bias_last", p.bias_last}});
}

Value as_rows(Recipe& r, Value x) {
  const Shape s = r.shape(x);
  if (s.size() == 2) return x;
  const int64_t last = s.empty() ? 1 : s.back();
  return r.reshape(x, {element_count(s) / std::max<int64_t>(last, 1), last});
}

namespace {

constexpr const char* kSizes = "groupListOptional";

// Sizes of groups: an array of the call, or a tensor that a run reads.
Value sizes_of(Recipe& r, const char* name, int64_t rows) {
  if (r.length_if(name) > 0) return r.list(name, 0, rows);
  if (!r.is_tensor(name) || !r.given(name)) return {};
  return r.cast(r.in(name), DType::i64);
}

// Item `index` of a list of parameters, or row `index` of the one tensor of it, float32.
Value of_group(Recipe& r, const char* name, size_t index, size_t groups) {
  if (!r.has_parameter(name) || r.length_if(name) == 0) return {};
  const bool one = r.length_if(name) == 1 && groups > 1;
  const size_t item = one ? 0 : index;
  if (!r.given(name, item) || r.tensor(name, item).count() == 0) return {};
  const Value x = scale_of(r, r.in(name, item));
  const Shape s = r.shape(x);
  if (!one || s.size() < 2) return x;
  const Value row = r.slice(x, 0, static_cast<int64_t>(index), static_cast<int64_t>(index) + 1);
  return r.reshape(row, Shape(s.begin() + 1, s.end()));
}

// A parameter of one group for a product: {1, N} or, with parts of K, {1, parts, N}.
Value shaped(Recipe& r, Value x, int64_t n, bool parts) {
  if (!x) return {};
  const int64_t count = element_count(r.shape(x)), last = n > 0 && count % n == 0 ? n : 1;
  return r.reshape(x, parts ? Shape{1, count / last, last} : Shape{1, last});
}

// Sums of integers that stay integers.
bool is_exact(DType x, DType out) { return is_integer(x) && out == DType::i32; }

// Every group by itself: several tensors of rows or of results.
void one_by_one(Recipe& r, const char* out) {
  const size_t xs = r.length("x"), ys = r.length(out), ws = r.length("weight");
  const size_t groups = std::max(xs, ys);
  const bool stacked = ws == 1 && groups > 1;
  if (groups == 0 || (xs != 1 && xs != groups) || (ys != 1 && ys != groups) ||
      (!stacked && ws != groups)) {
    refuse("x has {} tensors, weight {} and {} {}; expected one each, or one for each group", xs,
           ws, out, ys);
  }
  std::vector<Value> results;
  int64_t row = 0;
  for (size_t i = 0; i < groups; ++i) {
    bool turned = false;
    GroupWeights w;
    Value matrix = unpacked(r, r.matrix("weight", stacked ? 0 : i, turned));
    if (stacked) {
      const auto at = static_cast<int64_t>(i);
      const Shape s = r.shape(matrix);
      if (s.size() != 3)
        refuse("weight is {}; expected 3 axes for {} groups", to_string(s), groups);
      matrix = r.reshape(r.slice(matrix, 0, at, at + 1), {s[1], s[2]});
    }
    w.matrices = {matrix};
    w.turned = turned;
    w.n = r.extent(matrix, turned ? 0 : 1);
    GroupProduct p;
    p.x = as_rows(r, r.in("x", xs == 1 ? 0 : i));
    if (xs == 1 && groups > 1) {
      const Shape y = r.tensor(out, i).shape.shape();
      const int64_t rows = y.empty() ? 0 : y[0];
      p.x = r.slice(p.x, 0, row, row + rows);
      row += rows;
    }
    p.exact = is_exact(r.dtype(p.x), r.tensor(out, ys == 1 ? 0 : i).dtype);
    p.bias = shaped(r, of_group(r, "biasOptional", i, groups), w.n, false);
    p.out_scale = shaped(r, of_group(r, "scaleOptional", i, groups), w.n, false);
    p.scale = shaped(r, of_group(r, "antiquantScaleOptional", i, groups), w.n, true);
    p.offset = shaped(r, of_group(r, "antiquantOffsetOptional", i, groups), w.n, true);
    if (const Value scale = of_group(r, "perTokenScaleOptional", i, groups))
      p.row_scale = r.reshape(scale, {element_count(r.shape(scale))});
    results.push_back(multiply_groups(r, w, p));
  }
  const int64_t act = r.has_parameter("actType") ? r.integer("actType") : 0;
  const auto write = [&](size_t index, Value y) {
    r.out(out, index, r.reshape(group_activated(r, y, act), r.tensor(out, index).shape.shape()));
  };
  if (ys == 1 && groups > 1) return write(0, r.op("Concat", results, {{"axis", 0}}));
  for (size_t i = 0; i < groups; ++i) write(i, results[i]);
}

// x is turned: columns of groups, y[group] = x^T * weight.
Value by_columns(Recipe& r, Value x, Value weight, Value sizes, int64_t list_type) {
  GroupWeights w;
  w.matrices = {weight};
  GroupProduct p;
  p.x = x;
  p.sizes = sizes;
  p.list_type = list_type;
  p.axis = 1;
  return multiply_groups(r, w, p);
}

void grouped_matmul(Recipe& r) {
  const char* const out = r.has_parameter("out") ? "out" : "y";
  const size_t xs = r.length("x"), ys = r.length(out);
  const bool listed = r.length_if("groupListOptional") > 0 ||
                      (r.is_tensor("groupListOptional") && r.given("groupListOptional"));
  const int64_t list_type = r.has_parameter("groupListType") ? r.integer("groupListType") : 0;
  const int64_t type = r.has_parameter("groupType") ? r.integer("groupType") : listed ? 0 : -1;
  if (type != -1 && type != 0 && type != 2) refuse("groupType is {}; expected -1, 0 or 2", type);
  if (r.has_parameter("activationInputOptional") && r.length_if("activationInputOptional") > 0)
    refuse("activationInputOptional is given; expected null, no version reads it");
  if (xs != 1 || ys != 1 || !listed) return one_by_one(r, out);
  GroupProduct p;
  p.x = as_rows(r, r.in("x", 0));
  p.list_type = list_type;
  p.sizes = sizes_of(r, "groupListOptional", r.extent(p.x, type == 2 ? 1 : 0));
  if (type == 2) {
    const Value y = by_columns(r, p.x, as_rows(r, r.in("weight", 0)), p.sizes, list_type);
    return r.out(out, 0, r.reshape(y, r.tensor(out, 0).shape.shape()));
  }
  const GroupWeights w = group_weights(r, "weight", false);
  p.exact = is_exact(r.dtype(p.x), r.tensor(out, 0).dtype);
  p.bias = of_groups(r, "biasOptional", w, false);
  p.out_scale = of_groups(r, "scaleOptional", w, false);
  p.scale = of_groups(r, "antiquantScaleOptional", w, true);
  p.offset = of_groups(r, "antiquantOffsetOptional", w, true);
  if (r.has_parameter("perTokenScaleOptional")) {
    if (const Value scale = of_group(r, "perTokenScaleOptional", 0, 1))
      p.row_scale = r.reshape(scale, {element_count(r.shape(scale))});
  }
  // A bias of floats is added to what was scaled.
  p.bias_last = p.out_scale && p.bias && is_floating(r.tensor("biasOptional", 0).dtype);
  const Value y = group_activated(r, multiply_groups(r, w, p),
                                  r.has_parameter("actType") ? r.integer("actType") : 0);
  r.out(out, 0, r.reshape(y, r.tensor(out, 0).shape.shape()));
}

void grouped_add(Recipe& r) {
  const int64_t type = r.integer("groupType");
  if (type != 2 || !r.flag("transposeX") || r.flag("transposeWeight")) {
    refuse("groupType is {}, transposeX {}, transposeWeight {}; expected 2, true and false", type,
           r.flag("transposeX"), r.flag("transposeWeight"));
  }
  const Value sizes = r.cast(r.in("groupList"), DType::i64);
  const Value y = by_columns(r, r.transpose(r.in("x"), {1, 0}), r.in("weight"), sizes, 0);
  const Shape shape = r.shape("yRef");
  r.out("yRef", r.op("Add", {r.cast(r.in("yRef"), DType::f32), r.reshape(y, shape)}));
}

const Row kRows[] = {
    {"aclnnGroupedMatmul", grouped_matmul, "", false, 0, kSizes},
    {"aclnnGroupedMatmulV2", grouped_matmul, "", false, 0, kSizes},
    {"aclnnGroupedMatmulV3", grouped_matmul},
    {"aclnnGroupedMatmulV4", grouped_matmul},
    {"aclnnGroupedMatmulV5", grouped_matmul},
    {"aclnnGroupedMatmulWeightNz", grouped_matmul},
    {"aclnnGroupedMatmulAdd", grouped_add},
};

}  // namespace

std::span<const Row> grouped_rows() { return kRows; }

}  // namespace anynpu::aclnn
