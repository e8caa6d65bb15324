// SPDX-License-Identifier: Apache-2.0
// Elements and rows written by index, and indexing by tensors as in numpy.
#include <algorithm>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// A scalar as a list of one.
Value listed(Recipe& r, Value x) { return r.shape(x).empty() ? r.reshape(x, {1}) : x; }

Value index_of(Recipe& r, Param param) { return listed(r, r.cast(r.in(param), DType::i64)); }

// The part of `x` at the front of each axis that `shape` has: sources may be larger than indices.
Value cut_to(Recipe& r, Value x, const Shape& shape) {
  const Shape whole = r.shape(x);
  for (size_t i = 0; i < shape.size() && i < whole.size(); ++i) {
    if (whole[i] > shape[i]) x = r.slice(x, static_cast<int64_t>(i), 0, shape[i]);
  }
  return x;
}

// self with `source` written, or combined by `reduction`, where the index says along an axis.
Value scattered(Recipe& r, Value self, int64_t axis, Value index, Value source,
                const char* reduction) {
  return r.op("ScatterElements", {self, index, source}, {{"axis", axis}, {"reduction", reduction}});
}

// Of types that can be added: truth values and 16-bit floats are widened.
struct Scatter {
  DType type;
  Value self, index;
  int64_t axis;
};
Scatter scatter_of(Recipe& r, bool computes) {
  Scatter s;
  s.type = computes ? computed_in(r.dtype(0)) : r.dtype(0);
  s.self = listed(r, r.cast(r.in(0), s.type));
  s.index = index_of(r, "index");
  s.axis = r.axis("dim", r.rank(0));
  return s;
}

void finish(Recipe& r, Value y) {
  const Param out = r.result();
  r.out(out, r.reshape(y, r.shape(out)));
}

// reduce: 0 none, 1 add, 2 multiply.
const char* reduction_of(Recipe& r) {
  const int64_t reduce = r.integer("reduce");
  if (reduce < 0 || reduce > 2)
    refuse("reduce is {}; expected 0 (none), 1 (add) or 2 (mul)", reduce);
  return reduce == 0 ? "none" : reduce == 1 ? "add" : "mul";
}

void scatter(Recipe& r) {
  const std::string reduction = reduction_of(r);
  const Scatter s = scatter_of(r, reduction != "none");
  const Value source = cut_to(r, listed(r, r.cast(r.in("src"), s.type)), r.shape(s.index));
  finish(r, scattered(r, s.self, s.axis, s.index, source, reduction.c_str()));
}

void scatter_value(Recipe& r) {
  const std::string reduction = reduction_of(r);
  const Scatter s = scatter_of(r, reduction != "none");
  const Value source = r.expand(r.number("value", s.type), r.shape(s.index));
  finish(r, scattered(r, s.self, s.axis, s.index, source, reduction.c_str()));
}

void scatter_add(Recipe& r) {
  if (r.tensor("index").count() == 0) return finish(r, r.in(0));  // of any number of axes
  const Scatter s = scatter_of(r, true);
  const Value source = cut_to(r, listed(r, r.cast(r.in("src"), s.type)), r.shape(s.index));
  finish(r, scattered(r, s.self, s.axis, s.index, source, "add"));
}

// reduce: 0 none, 1 sum and 2 product as in Scatter, then 3 largest, 4 smallest, 5 mean. Without
// includeSelf, elements that are written begin with what leaves the first source as it is.
void scatter_reduce(Recipe& r) {
  const int64_t reduce = r.integer("reduce");
  if (reduce < 0 || reduce > 5) refuse("reduce is {}; expected 0 to 5", reduce);
  enum : int64_t { kNone, kSum, kProduct, kLargest, kSmallest, kMean };
  const bool with_self = r.flag("includeSelf");
  const Scatter s = scatter_of(r, true);
  const Value source = cut_to(r, listed(r, r.cast(r.in("src"), s.type)), r.shape(s.index));
  const char* const kNames[] = {"none", "add", "mul", "max", "min", "add"};
  Value self = s.self;
  if (!with_self) {
    const bool first = reduce == kNone || reduce == kLargest ||
                       reduce == kSmallest;  // an element of the source itself
    const Value neutral =
        first ? source : r.expand(r.constant(s.type, reduce == kProduct ? 1 : 0), r.shape(source));
    self = scattered(r, self, s.axis, s.index, neutral, "none");
  }
  Value y = scattered(r, self, s.axis, s.index, source, kNames[reduce]);
  if (reduce == kMean) {
    const Value ones = r.expand(r.constant(s.type, 1), r.shape(source));
    Value counts = scattered(r, r.filled(s.type, r.shape(self), with_self ? 1 : 0), s.axis, s.index,
                             ones, "add");
    counts = r.op("Max", {counts, r.constant(s.type, 1)});
    // Integers are rounded down, as torch does.
    y = is_floating(s.type) ? r.op("Div", {y, counts}) : r.op("FloorDivide", {y, counts});
  }
  finish(r, y);
}

// An index of rows along an axis, as wide as what is written there.
Value spread_index(Recipe& r, Value index, int64_t axis, const Shape& shape) {
  Shape column(shape.size(), 1);
  column[static_cast<size_t>(axis)] = element_count(r.shape(index));
  return r.expand(r.reshape(index, column), shape);
}

// self[..., index, ...] += alpha * source.
void index_add(Recipe& r) {
  const Scatter s = scatter_of(r, true);
  Value source = listed(r, r.cast(r.in("source"), s.type));
  if (!r.equals("alpha", 1)) source = r.op("Mul", {source, r.number("alpha", s.type)});
  finish(r, scattered(r, s.self, s.axis, spread_index(r, s.index, s.axis, r.shape(source)), source,
                      "add"));
}

void index_copy(Recipe& r) {
  const Scatter s = scatter_of(r, false);
  const Value source = listed(r, r.cast(r.in("source"), s.type));
  finish(r, scattered(r, s.self, s.axis, spread_index(r, s.index, s.axis, r.shape(source)), source,
                      "none"));
}

// The index is a tensor, or a list of numbers.
void index_fill(Recipe& r) {
  const DType type = r.dtype(0);
  const Value self = listed(r, r.in(0));
  const Value index = r.is_tensor("index") ? index_of(r, "index") : r.constant(r.ints("index"));
  const int64_t axis = r.axis("dim", r.rank(0));
  Shape shape = r.shape(self);
  shape[static_cast<size_t>(axis)] = element_count(r.shape(index));
  const Value filled = r.expand(r.number("value", type), shape);
  finish(r, scattered(r, self, axis, spread_index(r, index, axis, shape), filled, "none"));
}

// Elements of the tensor as a list.
void take(Recipe& r) {
  const Value all = r.reshape(r.in("self"), {r.tensor("self").count()});
  r.out("out", r.op("Gather", {all, r.cast(r.in("index"), DType::i64)}, {{"axis", 0}}));
}

void put(Recipe& r) {
  const bool adds = r.flag("accumulate");
  const DType type = adds ? computed_in(r.dtype(0)) : r.dtype(0);
  const int64_t count = r.tensor("index").count();
  const Value all = r.reshape(r.cast(r.in(0), type), {r.tensor(0).count()});
  const Value index = r.reshape(r.cast(r.in("index"), DType::i64), {count});
  const Value source = r.reshape(r.cast(r.in("source"), type), {count});
  r.out(0, r.reshape(scattered(r, all, 0, index, source, adds ? "add" : "none"), r.shape(0)));
}

// Elements where the mask is true become those of the source, in order.
void masked_scatter(Recipe& r) {
  const Shape shape = r.shape(0);
  const int64_t count = element_count(shape);
  const Value mask = r.expand(r.cast(r.in("mask"), DType::boolean), shape);
  if (r.tensor("source").count() == 0) return r.out(0, r.in(0));
  const Value counted =
      r.op("CumSum", {r.cast(r.reshape(mask, {count}), DType::i64), r.constant(DType::i64, 0)});
  const Value one = r.constant(DType::i64, 1);
  const Value last = r.constant(DType::i64, static_cast<double>(r.tensor("source").count() - 1));
  Value place = r.op("Sub", {counted, one});
  place = r.op("Min", {r.op("Max", {place, r.constant(DType::i64, 0)}), last});
  const Value source = r.reshape(r.cast(r.in("source"), r.dtype(0)), {r.tensor("source").count()});
  const Value chosen = r.reshape(r.op("Gather", {source, place}, {{"axis", 0}}), shape);
  r.out(0, r.op("Where", {mask, chosen, r.in(0)}));
}

// var[begin:end:stride, ...] = value, along all axes or those that are named.
void assign_slices(Recipe& r) {
  const Shape s = r.shape("varRef");
  const Ints begin = r.ints("begin"), end = r.ints("end"), step = r.ints("strides");
  Ints axes = r.ints("axesOptional");
  if (axes.empty()) {
    for (size_t i = 0; i < begin.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (end.size() != begin.size() || step.size() != begin.size() || axes.size() != begin.size()) {
    refuse("begin, end, strides and axesOptional have {}, {}, {} and {} values; expected as many",
           begin.size(), end.size(), step.size(), axes.size());
  }
  // Places in the flat tensor, axis by axis.
  Value place = r.constant(DType::i64, 0);
  Shape written = s;
  for (size_t i = s.size(), stride = 1; i-- > 0; stride *= static_cast<size_t>(s[i])) {
    int64_t from = 0, to = s[i], by = 1;
    for (size_t k = 0; k < axes.size(); ++k) {
      const int64_t axis = axes[k] < 0 ? axes[k] + static_cast<int64_t>(s.size()) : axes[k];
      if (axis < 0 || axis >= static_cast<int64_t>(s.size()))
        refuse("axis {} of {} axes is written", axes[k], s.size());
      if (static_cast<size_t>(axis) != i) continue;
      by = step[k];
      if (by == 0) refuse("stride {} is 0; expected any other number", k);
      const auto limited = [&](int64_t v) {
        return std::clamp(v < 0 ? v + s[i] : v, by > 0 ? int64_t{0} : int64_t{-1},
                          by > 0 ? s[i] : s[i] - 1);
      };
      from = limited(begin[k]);
      to = limited(end[k]);
    }
    Ints list;
    for (int64_t at = from; by > 0 ? at < to : at > to; at += by)
      list.push_back(at * static_cast<int64_t>(stride));
    written[i] = static_cast<int64_t>(list.size());
    Shape column(s.size(), 1);
    column[i] = written[i];
    place = r.op("Add", {place, r.reshape(r.constant(list), column)});
  }
  const int64_t count = element_count(written);
  if (count == 0) return;
  const Value value = r.expand(r.cast(r.in("inputValue"), r.dtype("varRef")), written);
  const Value flat = r.reshape(r.in("varRef"), {element_count(s)});
  r.out("varRef", r.reshape(scattered(r, flat, 0, r.reshape(r.expand(place, written), {count}),
                                      r.reshape(value, {count}), "none"),
                            s));
}

// Indexing by tensors: which axes have an index, the indices as rows of coordinates, and where
// their axes stand in the result.
struct Indexing {
  Ints order;         // indexed axes, then the others
  Ints places;        // axes of the result, as (index axes, other axes) in its order
  Value coordinates;  // index shape, and one number for each indexed axis
  Shape index_shape, rest;
};

Indexing indexing_of(Recipe& r, const Shape& shape) {
  Indexing x;
  Ints indexed;
  const size_t given = r.length("indices");
  if (given > shape.size()) refuse("{} indices for {} axes", given, shape.size());
  for (size_t i = 0; i < given; ++i) {
    if (r.given("indices", i) && r.tensor("indices", i).shape.size() + 1 > 0 &&
        !(r.tensor("indices", i).count() == 0 && r.tensor("indices", i).shape.size() == 1 &&
          r.tensor("indices", i).data == nullptr))
      indexed.push_back(static_cast<int64_t>(i));
  }
  if (indexed.empty()) refuse("indices has no tensor; expected at least one");
  Value wide;  // broadcast of all indices
  Values lists;
  for (int64_t axis : indexed) {
    const TensorView& view = r.tensor("indices", static_cast<size_t>(axis));
    if (view.dtype == DType::boolean || view.dtype == DType::u8) {
      refuse("index {} is {}; expected integers (turn masks into coordinates first)", axis,
             to_string(view));
    }
    lists.push_back(r.cast(r.in("indices", static_cast<size_t>(axis)), DType::i64));
    wide = wide ? r.op("Add", {wide, lists.back()}) : lists.back();
  }
  x.index_shape = r.shape(wide);
  Shape column = x.index_shape;
  column.push_back(1);
  for (Value& list : lists) list = r.reshape(r.expand(list, x.index_shape), column);
  x.coordinates = lists.size() == 1
                      ? lists[0]
                      : r.op("Concat", lists, {{"axis", static_cast<int64_t>(column.size()) - 1}});
  x.order = indexed;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (std::find(indexed.begin(), indexed.end(), axis) != indexed.end()) continue;
    x.order.push_back(axis);
    x.rest.push_back(shape[i]);
  }
  // Neighbouring indices leave their axes in place; others come first.
  const bool together =
      indexed.back() - indexed.front() + 1 == static_cast<int64_t>(indexed.size());
  const int64_t before = together ? indexed.front() : 0;
  const auto index_axes = static_cast<int64_t>(x.index_shape.size());
  const auto rest_axes = static_cast<int64_t>(x.rest.size());
  for (int64_t i = 0; i < before; ++i) x.places.push_back(index_axes + i);
  for (int64_t i = 0; i < index_axes; ++i) x.places.push_back(i);
  for (int64_t i = before; i < rest_axes; ++i) x.places.push_back(index_axes + i);
  return x;
}

Ints inverse(const Ints& order) {
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return back;
}

void index(Recipe& r) {
  const Indexing x = indexing_of(r, r.shape("self"));
  const Value turned = r.transpose(r.in("self"), x.order);
  const Value found = r.op("GatherND", {turned, x.coordinates});
  r.out("out", x.places.empty() ? found : r.transpose(found, x.places));
}

void index_put(Recipe& r) {
  const bool adds = r.flag("accumulate");
  const DType type = adds ? computed_in(r.dtype(0)) : r.dtype(0);
  const Indexing x = indexing_of(r, r.shape(0));
  Shape found = x.index_shape, placed;
  found.insert(found.end(), x.rest.begin(), x.rest.end());
  for (int64_t axis : x.places) placed.push_back(found[static_cast<size_t>(axis)]);
  const Value values = r.expand(r.cast(r.in("values"), type), placed);
  const Value updates = placed.empty() ? values : r.transpose(values, inverse(x.places));
  const Value turned = r.transpose(r.cast(r.in(0), type), x.order);
  const Value y =
      r.op("ScatterND", {turned, x.coordinates, updates}, {{"reduction", adds ? "add" : "none"}});
  r.out(0, r.transpose(y, inverse(x.order)));
}

const Row kRows[] = {
    {"aclnnScatter", scatter},
    {"aclnnInplaceScatter", scatter},
    {"aclnnScatterValue", scatter_value},
    {"aclnnInplaceScatterValue", scatter_value},
    {"aclnnScatterAdd", scatter_add},
    {"aclnnScatterReduce", scatter_reduce},
    {"aclnnInplaceScatterReduce", scatter_reduce},
    {"aclnnIndexAdd", index_add},
    {"aclnnIndexAddV2", index_add},
    {"aclnnIndexCopy", index_copy},
    {"aclnnInplaceIndexCopy", index_copy},
    {"aclnnIndexFill", index_fill},
    {"aclnnInplaceIndexFill", index_fill},
    {"aclnnIndexFillTensor", index_fill},
    {"aclnnInplaceIndexFillTensor", index_fill},
    {"aclnnTake", take},
    {"aclnnInplacePut", put},
    {"aclnnInplaceMaskedScatter", masked_scatter},
    {"aclnnIndex", index},
    {"aclnnIndexPutImpl", index_put},
    {"aclnnStridedSliceAssignV2", assign_slices},
};

}  // namespace

std::span<const Row> scatter_rows() { return kRows; }

}  // namespace anynpu::aclnn
