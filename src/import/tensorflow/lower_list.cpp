// SPDX-License-Identifier: Apache-2.0
// Tensor lists (TensorFlow 2) and tensor arrays (TensorFlow 1). Both are one tensor with the
// elements along axis 0; those that differ in length are in lower_uneven_list.cpp. A list that is
// made without the shape of its elements is unshaped: `plain` is the number of elements, and the
// first element that is set tells the shape. Of an array, the flow is the list; its handle is the
// number of elements and is not read.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "import/tensorflow/lower.h"
#include "import/tensorflow/types.h"

namespace anynpu::tensorflow {

namespace {

ValueId list_count(Builder& b, ValueId list) {
  return b.slice(b.shape_of(list), 0, 0, 1);  // int64, one element
}

// Zeros: `count` elements (int64, in a row of one) of the shape.
ValueId zero_list(Builder& b, ValueId count, DType dtype, const Shape& element) {
  const ValueId shape = b.node("Concat", 13, {count, b.list(element)}, {{"axis", int64_t{0}}});
  return b.node("Expand", 13, {b.scalar(dtype, 0), shape});
}

ValueId row_of_one(Builder& b, ValueId number) { return b.reshape(b.index(number), {1}); }

// A list with elements, or an unshaped one.
void make_list(Builder& b, size_t output, ValueId count, DType dtype, const PartialShape& element,
               bool grows, bool variants = false) {
  if (!b.ok()) return;
  if (element && is_static(*element))
    return b.out_list(output, zero_list(b, row_of_one(b, count), dtype, *element), grows);
  Tensor list;
  list.plain = count;
  list.is_list = true;
  list.grows = grows;
  list.unshaped = std::make_shared<UnshapedList>();
  list.unshaped->dtype = dtype;
  list.unshaped->element = element;
  list.unshaped->of_variants = variants;
  b.out(output, list);
}

// The shape that an input of extents states; none when it is a scalar -1 or not known.
PartialShape stated_element(Builder& b, size_t input) {
  const ValueId id = b.in(input);
  const auto extents = b.known(id);
  if (!b.ok() || !extents || b.rank(id) == 0) return {};
  return *extents;
}

// The elements are rows of ragged tensors.
bool holds_variants(Builder& b) {
  constexpr int64_t kVariant = 21;
  return b.take(type_attr(b.def(), "element_dtype", 0)) == kVariant;
}

// What the list learns of its elements from one of them.
void learn(UnshapedList& list, const Shape& element) {
  if (!list.learnt || *list.learnt == element) {
    list.learnt = element;
    return;
  }
  Shape& known = *list.learnt;
  const bool same = !known.empty() && known.size() == element.size() &&
                    std::equal(known.begin() + 1, known.end(), element.begin() + 1);
  if (same) {
    known[0] = kDynamicDim;
  } else {
    list.conflicting = true;
    known = element;
  }
}

// Input `index` as a tensor; an unshaped list takes the shape of `element`.
ValueId list_tensor(Builder& b, size_t index, ValueId element = kNoValue) {
  const Tensor& list = b.tensor(index);
  const ValueId id = b.in(index);
  if (!b.ok() || !list.unshaped) return id;
  UnshapedList& unshaped = *list.unshaped;
  if (element == kNoValue) {
    if (unshaped.element && is_static(*unshaped.element))
      return zero_list(b, row_of_one(b, id), unshaped.dtype, *unshaped.element);
    if (unshaped.learnt && is_static(*unshaped.learnt))
      return zero_list(b, row_of_one(b, id), unshaped.dtype, *unshaped.learnt);
    b.refuse(Code::unsupported_shape,
             "it reads a list of tensors before an element is set, and the shape of its elements "
             "is not stated; set element_shape in the model");
    return kNoValue;
  }
  if (!b.has_shape(element)) {
    b.refuse(Code::unsupported_shape,
             "an element of a list has no known shape; give the shapes of "
             "the model's inputs with --input_shape");
    return kNoValue;
  }
  learn(unshaped, b.shape(element));
  if (is_static(*unshaped.learnt))
    return zero_list(b, row_of_one(b, id), unshaped.dtype, *unshaped.learnt);
  const ValueId shape =
      b.node("Concat", 13, {row_of_one(b, id), b.shape_of(element)}, {{"axis", int64_t{0}}});
  return b.node("Expand", 13, {b.scalar(unshaped.dtype, 0), shape});
}

// `list` with as many zeros behind it as element `at` needs (int64, in a row of one).
ValueId grown(Builder& b, ValueId list, ValueId at) {
  const ValueId count = list_count(b, list);
  const ValueId missing = b.node("Max", 13, {sub(b, add(b, at, b.list({1})), count), b.list({0})});
  const ValueId element = b.slice(b.shape_of(list), 0, 1, std::numeric_limits<int64_t>::max());
  const ValueId shape = b.node("Concat", 13, {missing, element}, {{"axis", int64_t{0}}});
  const ValueId zeros = b.node("Expand", 13, {b.scalar(b.dtype(list), 0), shape});
  return b.node("Concat", 13, {list, zeros}, {{"axis", int64_t{0}}});
}

// A list of rows of ragged tensors before the first is set; others as they are.
Tensor ready_for(Builder& b, const Tensor& list, ValueId element) {
  if (!list.unshaped || !list.unshaped->of_variants ||
      !b.has_rank(element, "a row of a ragged tensor", 1))
    return list;
  list.unshaped->dtype = b.dtype(element);
  learn(*list.unshaped, b.shape(element));
  return empty_uneven(b, list.plain, b.dtype(element), b.shape(element));
}

// Output 0: input `index` with an element set.
void set_element(Builder& b, size_t index, ValueId place, ValueId element, bool resizes) {
  const Tensor tensor = ready_for(b, b.tensor(index), element);
  const bool grows = tensor.grows;
  if (is_uneven(tensor)) return set_uneven_element(b, tensor, place, element);
  ValueId list = list_tensor(b, index, element);
  if (differs_in_length(b, list, element))
    return set_uneven_element(b, made_uneven(b, list), place, element);
  const ValueId at = row_of_one(b, place);
  if (resizes) list = grown(b, list, at);
  b.out_list(0, b.node("ScatterND", 16, {list, b.reshape(at, {1, 1}), b.unsqueeze(element, {0})}),
             grows);
}

void get_element(Builder& b, size_t index, ValueId place) {
  if (is_uneven(b.tensor(index))) return b.out(0, uneven_element(b, b.tensor(index), place));
  b.out(0, b.node("Gather", 13, {list_tensor(b, index), b.index(place)}, {{"axis", int64_t{0}}}));
}

void count_elements(Builder& b, size_t index) {
  const Tensor& list = b.tensor(index);
  ValueId count;
  if (list.unshaped) {
    count = b.in(index);
  } else {
    count = b.reshape(list_count(b, is_uneven(list) ? list.lengths : b.in(index)), {});
  }
  b.out(0, b.cast(count, DType::i32));
}

bool counts_from_zero(const Ints& indices) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// A tensor spread over the elements that `indices` name. Without gaps it is the list.
ValueId scattered(Builder& b, ValueId tensor, ValueId indices, ValueId count) {
  const auto known = b.known(indices);
  if (known && counts_from_zero(*known)) {
    const auto all = count == kNoValue ? std::optional<Ints>() : b.known(count);
    if (!all || (*all)[0] == static_cast<int64_t>(known->size()) || (*all)[0] < 0) return tensor;
  }
  ValueId zeros;
  if (count == kNoValue) {
    zeros = b.node("Expand", 13, {b.scalar(b.dtype(tensor), 0), b.shape_of(tensor)});
  } else {
    const ValueId element = b.slice(b.shape_of(tensor), 0, 1, std::numeric_limits<int64_t>::max());
    const ValueId shape =
        b.node("Concat", 13, {row_of_one(b, count), element}, {{"axis", int64_t{0}}});
    zeros = b.node("Expand", 13, {b.scalar(b.dtype(tensor), 0), shape});
  }
  return b.node("ScatterND", 16, {zeros, b.unsqueeze(b.index(indices), {-1}), tensor});
}

// [n, m, rest...] -> [n * m, rest...]
ValueId joined_elements(Builder& b, ValueId list) {
  if (!b.has_rank(list, "the list", 2)) return kNoValue;
  const ValueId rest = b.slice(b.shape_of(list), 0, 2, std::numeric_limits<int64_t>::max());
  const ValueId shape = b.node("Concat", 13, {b.list({-1}), rest}, {{"axis", int64_t{0}}});
  return b.node("Reshape", 14, {list, shape});
}

ValueId lengths_of(Builder& b, ValueId list) {
  const ValueId extents = b.shape_of(list);
  return b.node("Expand", 13, {b.slice(extents, 0, 1, 2), b.slice(extents, 0, 0, 1)});
}

}  // namespace

void lower_list_reserve(Builder& b) {
  const PartialShape element = stated_element(b, 0);
  const bool empty = b.type() == "EmptyTensorList";
  const bool variants = holds_variants(b);
  const DType dtype = variants ? DType::undefined : b.type("element_dtype", DType::f32);
  const ValueId count = empty ? b.whole(DType::i32, 0) : b.in(1);
  make_list(b, 0, count, dtype, variants ? PartialShape() : element, empty, variants);
}

void lower_list_from_tensor(Builder& b) {
  if (b.input_count() > 0 && is_uneven(b.tensor(0))) return b.out(0, b.tensor(0));
  b.out_list(0, b.in(0));
}

// Elements that turn out to have one length, in the run at the latest.
static ValueId stacked_rows(Builder& b, const Tensor& list) {
  const auto lengths = b.known(list.lengths);
  const auto differs = [&](int64_t length) { return length != (*lengths)[0]; };
  if (lengths && std::any_of(lengths->begin(), lengths->end(), differs)) return b.plain(list);
  const ValueId most = b.node("ReduceMax", 18, {list.lengths}, {{"keepdims", int64_t{1}}});
  const ValueId length = b.node("Max", 13, {most, b.list({0})});
  const ValueId rest = b.slice(b.shape_of(list.plain), 0, 1, kToEnd);
  return b.node("Reshape", 14, {list.plain, concat(b, {b.shape_of(list.lengths), length, rest})},
                {{"allowzero", int64_t{1}}});
}

void lower_list_stack(Builder& b) {
  if (b.input_count() == 0) return b.refuse(Code::corrupt_model, "it has no list");
  const Tensor& list = b.tensor(0);
  if (!is_uneven(list)) return b.out(0, list_tensor(b, 0));
  if (holds_variants(b)) return b.out(0, list);
  b.out(0, stacked_rows(b, list));
}

void lower_list_get(Builder& b) { get_element(b, 0, b.in(1)); }

void lower_list_set(Builder& b) {
  set_element(b, 0, b.in(1), b.in(2), b.flag("resize_if_index_out_of_bounds", false));
}

void lower_list_length(Builder& b) { count_elements(b, 0); }

void lower_list_element_shape(Builder& b) {
  const DType type = b.type("shape_type", DType::i32);
  const ValueId shape = b.shape_of(list_tensor(b, 0));
  b.out(0, b.cast(b.slice(shape, 0, 1, std::numeric_limits<int64_t>::max()), type));
}

// Fewer elements, or zeros behind the last.
void lower_list_resize(Builder& b) {
  const Tensor& list = b.tensor(0);
  const ValueId size = b.in(1);
  if (!b.ok()) return;
  if (list.unshaped) {
    Tensor resized = list;
    resized.plain = size;
    return b.out(0, resized);
  }
  const ValueId to = row_of_one(b, size);
  const ValueId padded = grown(b, b.in(0), sub(b, to, b.list({1})));
  b.out_list(0, b.node("Slice", 13, {padded, b.list({0}), to, b.list({0})}), list.grows);
}

void lower_list_push(Builder& b) {
  const ValueId element = b.in(1);
  if (!b.ok()) return;
  const Tensor ready = ready_for(b, b.tensor(0), element);
  if (is_uneven(ready)) return push_uneven_element(b, ready, element);
  const ValueId list = list_tensor(b, 0, element);
  if (differs_in_length(b, list, element))
    return push_uneven_element(b, made_uneven(b, list), element);
  b.out_list(0, b.node("Concat", 13, {list, b.unsqueeze(element, {0})}, {{"axis", int64_t{0}}}),
             b.tensor(0).grows);
}

void lower_list_pop(Builder& b) {
  const ValueId list = list_tensor(b, 0);
  b.out_list(0, b.slice(list, 0, 0, -1), b.tensor(0).grows);
  b.out(1, b.squeeze(b.slice(list, 0, -1, std::numeric_limits<int64_t>::max()), {0}));
}

void lower_list_gather(Builder& b) {
  b.out(0, b.node("Gather", 13, {list_tensor(b, 0), b.index(b.in(1))}, {{"axis", int64_t{0}}}));
}

void lower_list_scatter(Builder& b) {
  const ValueId tensor = b.in(0), indices = b.in(1);
  if (b.type() == "TensorListScatterIntoExistingList") {
    const ValueId elements = b.in(1);
    const ValueId list = b.in(0);
    return b.out_list(
        0, b.node("ScatterND", 16, {list, b.unsqueeze(b.index(b.in(2)), {-1}), elements}));
  }
  ValueId count = b.type() == "TensorListScatterV2" ? b.in(3) : kNoValue;
  if (const auto known = b.known(count); known && (*known)[0] < 0) count = kNoValue;
  b.out_list(0, scattered(b, tensor, indices, count));
}

// Outputs: all rows of input `index` behind each other, and the number of rows of each element.
static void join_elements(Builder& b, size_t index) {
  const Tensor& tensor = b.tensor(index);
  if (is_uneven(tensor)) {
    b.out(0, tensor.plain);
    return b.out(1, tensor.lengths);
  }
  const ValueId list = list_tensor(b, index);
  b.out(0, joined_elements(b, list));
  b.out(1, lengths_of(b, list));
}

// Output 0: a list of parts of `tensor`, which have the lengths of input 2.
static void split_elements(Builder& b, ValueId tensor) {
  const ValueId given = b.in_row(2);
  if (!b.has_rank(tensor, "the tensor", 1, 7)) return;
  const auto lengths = b.known(given);
  if (lengths && lengths->empty())
    return b.refuse(Code::invalid_argument, "it cuts into no elements");
  const bool even = lengths && std::all_of(lengths->begin(), lengths->end(),
                                           [&](int64_t length) { return length == (*lengths)[0]; });
  if (!even) return b.out_uneven_list(0, tensor, given);
  const ValueId first = b.list({static_cast<int64_t>(lengths->size()), (*lengths)[0]});
  const ValueId rest = b.slice(b.shape_of(tensor), 0, 1, kToEnd);
  b.out_list(0, b.node("Reshape", 14, {tensor, concat(b, {first, rest})}));
}

void lower_list_concat(Builder& b) { join_elements(b, 0); }

void lower_list_split(Builder& b) { split_elements(b, b.in(0)); }

// Arrays: output 0 is the handle, output 1 the flow.
void lower_array(Builder& b) {
  const ValueId size = b.in(0);
  const DType dtype = b.type("dtype", DType::f32);
  const PartialShape element = b.partial_shape("element_shape");
  const bool grows = b.flag("dynamic_size", false);
  b.out(0, size);
  make_list(b, 1, size, dtype, element, grows);
}

void lower_array_write(Builder& b) { set_element(b, 3, b.in(1), b.in(2), b.tensor(3).grows); }

void lower_array_read(Builder& b) { get_element(b, 2, b.in(1)); }
void lower_array_gather(Builder& b) {
  if (b.input_count() == 3 && is_uneven(b.tensor(2))) {
    const auto rows = b.known(b.in(1));  // all elements in order, as TensorArray.stack() asks
    if (rows && counts_from_zero(*rows)) return b.out(0, stacked_rows(b, b.tensor(2)));
  }
  b.out(0, b.node("Gather", 13, {list_tensor(b, 2), b.index(b.in(1))}, {{"axis", int64_t{0}}}));
}

void lower_array_scatter(Builder& b) {
  const ValueId indices = b.in(1), tensor = b.in(2);
  if (b.input_count() < 4) return b.refuse(Code::corrupt_model, "it has no flow");
  const Tensor& flow = b.tensor(3);
  const bool grows = flow.grows;
  b.out_list(0, scattered(b, tensor, indices, flow.unshaped && !grows ? b.in(3) : kNoValue), grows);
}

void lower_array_size(Builder& b) { count_elements(b, 1); }

void lower_array_concat(Builder& b) { join_elements(b, 1); }

void lower_array_split(Builder& b) { split_elements(b, b.in(1)); }

}  // namespace anynpu::tensorflow
