// SPDX-License-Identifier: Apache-2.0
// Lists whose elements differ along their first axis: all rows behind each other, and the number of
// rows of each element (Tensor::lengths). They come from a split into parts of different lengths,
// from the rows of a ragged tensor, or when an element of another length is set.
#include <algorithm>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

ValueId uneven_place(Builder& b, ValueId number) { return b.reshape(b.index(number), {1}); }

ValueId uneven_rows(Builder& b, ValueId rows, ValueId begin, ValueId end) {
  return b.node("Slice", 13, {rows, begin, end, b.list({0})});
}

struct ElementRows {
  ValueId begin, end;  // rows of one element, each in a row of one
};
ElementRows rows_of_element(Builder& b, const Tensor& list, ValueId at) {
  const ValueId ends = b.node("CumSum", 14, {list.lengths, b.whole(DType::i64, 0)});
  const ValueId end = rows_at(b, ends, at);
  return {sub(b, end, rows_at(b, list.lengths, at)), end};
}

ValueId element_length(Builder& b, ValueId element) {
  return b.slice(b.shape_of(element), 0, 0, 1);
}

}  // namespace

bool is_uneven(const Tensor& list) { return list.lengths != kNoValue; }

// Elements of fixed shapes that differ in their first extent alone.
bool differs_in_length(const Builder& b, ValueId list, ValueId element) {
  if (!b.ok() || !b.is_fixed(list) || !b.is_fixed(element)) return false;
  const Shape &all = b.shape(list), &one = b.shape(element);
  return all.size() > 1 && all.size() == one.size() + 1 && all[1] != one[0] &&
         std::equal(all.begin() + 2, all.end(), one.begin() + 1);
}

Tensor made_uneven(Builder& b, ValueId list) {
  Tensor made;
  if (!b.has_rank(list, "a list of elements of different lengths", 2) ||
      !b.need_fixed(list, "a list of elements of different lengths"))
    return made;
  const Shape shape = b.shape(list);
  Ints rows = {shape[0] * shape[1]};
  rows.insert(rows.end(), shape.begin() + 2, shape.end());
  made.plain = b.reshape(list, rows);
  made.lengths = b.list(Ints(static_cast<size_t>(shape[0]), shape[1]));
  made.is_list = true;
  return made;
}

bool has_rows(const Shape& element) {
  return !element.empty() && std::all_of(element.begin() + 1, element.end(),
                                         [](int64_t extent) { return extent >= 0; });
}

// `count` elements without rows; `element` tells the other extents.
Tensor empty_uneven(Builder& b, ValueId count, DType dtype, const Shape& element) {
  Tensor made;
  if (!b.ok()) return made;
  if (!has_rows(element)) {
    b.refuse(Code::unsupported_shape,
             "an element of a list of rows has the shape {}; expected at least one axis, and all "
             "extents but the first known: give the shapes of the model's inputs with "
             "--input_shape",
             to_string(element));
    return made;
  }
  Shape rows = element;
  rows[0] = 0;
  made.plain = b.node("Expand", 13, {b.scalar(dtype, 0), b.list(rows)});
  made.lengths = b.node("Expand", 13, {b.whole(DType::i64, 0), uneven_place(b, count)});
  made.is_list = true;
  return made;
}

ValueId uneven_element(Builder& b, const Tensor& list, ValueId index) {
  const ElementRows span = rows_of_element(b, list, uneven_place(b, index));
  return uneven_rows(b, list.plain, span.begin, span.end);
}

void set_uneven_element(Builder& b, const Tensor& list, ValueId index, ValueId element) {
  const ValueId at = uneven_place(b, index);
  const ElementRows span = rows_of_element(b, list, at);
  const ValueId rows = concat(b, {uneven_rows(b, list.plain, b.list({0}), span.begin), element,
                                  uneven_rows(b, list.plain, span.end, b.list({kToEnd}))});
  b.out_uneven_list(
      0, rows,
      b.node("ScatterND", 16, {list.lengths, b.reshape(at, {1, 1}), element_length(b, element)}));
}

void push_uneven_element(Builder& b, const Tensor& list, ValueId element) {
  b.out_uneven_list(0, concat(b, {list.plain, element}),
                    concat(b, {list.lengths, element_length(b, element)}));
}

}  // namespace anynpu::tensorflow
