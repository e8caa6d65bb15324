// SPDX-License-Identifier: Apache-2.0
// The constants that a Builder makes, and what it knows of the elements of values.
#include <algorithm>
#include <cstring>

#include "graph/tensor_value.h"
#include "import/tensorflow/builder.h"
#include "tensor/half.h"
#include "tensor/onnx_type.h"

namespace anynpu::tensorflow {

namespace {

// Of vectors whose elements are tracked: lists of extents.
constexpr size_t kMostTracked = 64;

template <typename T>
double read_as(const std::byte* from) {
  T number;
  std::memcpy(&number, from, sizeof(T));
  return static_cast<double>(number);
}

template <typename T>
int64_t read_whole(const std::byte* from) {
  T number;
  std::memcpy(&number, from, sizeof(T));
  return static_cast<int64_t>(number);
}

using ReadWhole = int64_t (*)(const std::byte*);
ReadWhole whole_reader(DType type) {
  switch (type) {
    case DType::i8:
      return read_whole<int8_t>;
    case DType::u8:
    case DType::boolean:
      return read_whole<uint8_t>;
    case DType::i16:
      return read_whole<int16_t>;
    case DType::u16:
      return read_whole<uint16_t>;
    case DType::i32:
      return read_whole<int32_t>;
    case DType::u32:
      return read_whole<uint32_t>;
    case DType::i64:
      return read_whole<int64_t>;
    case DType::u64:
      return read_whole<uint64_t>;
    default:
      return nullptr;
  }
}

template <typename T>
std::shared_ptr<const graph::Constant> repeated(T value, size_t count) {
  return graph::constant_of(std::vector<T>(count, value));
}

// Complex numbers without an imaginary part.
template <typename T>
std::shared_ptr<const graph::Constant> repeated_pair(T value, size_t count) {
  std::vector<T> pairs(count * 2, T{0});
  for (size_t i = 0; i < count; ++i) pairs[i * 2] = value;
  return graph::constant_of(std::move(pairs));
}

std::shared_ptr<const graph::Constant> numbers_of(DType dtype, double value, size_t count) {
  switch (dtype) {
    case DType::f32:
      return repeated(static_cast<float>(value), count);
    case DType::f16:
      return repeated(to_f16(static_cast<float>(value)).bits, count);
    case DType::bf16:
      return repeated(to_bf16(static_cast<float>(value)).bits, count);
    case DType::f64:
      return repeated(value, count);
    case DType::i8:
      return repeated(static_cast<int8_t>(value), count);
    case DType::u8:
    case DType::boolean:
      return repeated(static_cast<uint8_t>(value), count);
    case DType::i16:
      return repeated(static_cast<int16_t>(value), count);
    case DType::u16:
      return repeated(static_cast<uint16_t>(value), count);
    case DType::i32:
      return repeated(static_cast<int32_t>(value), count);
    case DType::u32:
      return repeated(static_cast<uint32_t>(value), count);
    case DType::i64:
      return repeated(static_cast<int64_t>(value), count);
    case DType::u64:
      return repeated(static_cast<uint64_t>(value), count);
    case DType::c64:
      return repeated_pair(static_cast<float>(value), count);
    case DType::c128:
      return repeated_pair(value, count);
    default:
      return nullptr;
  }
}

}  // namespace

ValueId Builder::constant(DType dtype, Shape shape, std::shared_ptr<const graph::Constant> data) {
  if (!ok()) return kNoValue;
  graph::Value value = graph::tensor_value(
      value_names_.take(format("{}/constant", def_ ? full_name() : graph_.name)), dtype,
      std::move(shape));
  value.constant = std::move(data);
  return graph_.add_value(std::move(value));
}

ValueId Builder::list(const Ints& values) {
  return constant(DType::i64, {static_cast<int64_t>(values.size())}, graph::constant_of(values));
}

ValueId Builder::scalar(DType dtype, double value) { return filled(dtype, {}, value); }

ValueId Builder::whole(DType dtype, int64_t value) {
  return cast(constant(DType::i64, {}, graph::constant_of(Ints{value})), dtype);
}

ValueId Builder::filled(DType dtype, const Shape& shape, double value) {
  if (!ok()) return kNoValue;
  constexpr int64_t kMost = int64_t{1} << 28;
  const int64_t count = element_count(shape);
  if (count < 0 || count > kMost) {
    refuse(Code::unsupported_shape,
           "a constant of {} is asked for, expected known extents and at "
           "most {} elements",
           to_string(shape), kMost);
    return kNoValue;
  }
  auto data = numbers_of(dtype, value, static_cast<size_t>(count));
  if (!data) {
    refuse(Code::unsupported_dtype, "the type {} is not supported here", name_of(dtype));
    return kNoValue;
  }
  return constant(dtype, shape, std::move(data));
}

ValueId Builder::cast(ValueId id, DType to) {
  if (!ok() || id == kNoValue || dtype(id) == to) return id;
  return node("Cast", 13, {id}, {{"to", cast_number(to)}});
}

ValueId Builder::reshape(ValueId id, const Ints& to) {
  if (!ok()) return kNoValue;
  // The elements of a constant stay where they are.
  if (is_constant(id) && std::count(to.begin(), to.end(), 0) == 0 && is_static(to) &&
      element_count(to) == element_count(shape(id))) {
    return constant(dtype(id), to, value(id).constant);
  }
  return node("Reshape", 13, {id, list(to)});
}

std::optional<Ints> Builder::known(ValueId id) const {
  if (!is_constant(id)) return {};
  const graph::Value& v = value(id);
  const ReadWhole read = whole_reader(v.dtype);
  if (!read) return {};
  Ints elements;
  const size_t width = size_of(v.dtype);
  for (size_t at = 0; at + width <= v.constant->bytes.size(); at += width)
    elements.push_back(read(v.constant->bytes.data() + at));
  return elements;
}

std::optional<Ints> Builder::partly_known(ValueId id) const {
  if (auto all = known(id)) return all;
  const auto found = partial_.find(id);
  if (found != partial_.end()) return found->second;
  if (id == kNoValue || !has_shape(id) || rank(id) > 1 || !whole_reader(dtype(id))) return {};
  const int64_t count = element_count(shape(id));
  if (count < 0 || count > static_cast<int64_t>(kMostTracked)) return {};
  return Ints(static_cast<size_t>(count), -1);
}

std::optional<double> Builder::known_number(ValueId id) const {
  if (!is_constant(id) || element_count(shape(id)) != 1) return {};
  const graph::Value& v = value(id);
  const std::byte* from = v.constant->bytes.data();
  switch (v.dtype) {
    case DType::f32:
      return read_as<float>(from);
    case DType::f64:
      return read_as<double>(from);
    case DType::f16: {
      F16 half;
      std::memcpy(&half.bits, from, 2);
      return static_cast<double>(to_float(half));
    }
    case DType::bf16: {
      BF16 half;
      std::memcpy(&half.bits, from, 2);
      return static_cast<double>(to_float(half));
    }
    default:
      if (const ReadWhole read = whole_reader(v.dtype)) return static_cast<double>(read(from));
      return {};
  }
}

// Extents travel through Shape, slices and Concat; those that are fixed stay known though others
// come at run time. Reshape, Expand and ConstantOfShape get them as the shape of their output.
void Builder::note_partial(const graph::Node& node) {
  const ValueId made = node.outputs[0];
  graph::Value& output = graph_.values[static_cast<size_t>(made)];
  const auto tracked = [&](size_t input) {
    return input < node.inputs.size() ? partly_known(node.inputs[input]) : std::optional<Ints>();
  };
  if (node.op == "Shape" && has_shape(node.inputs[0])) {
    if (shape(node.inputs[0]).size() <= kMostTracked) partial_[made] = shape(node.inputs[0]);
  } else if (node.op == "Cast" || node.op == "Squeeze" || node.op == "Unsqueeze" ||
             node.op == "Identity") {
    const auto x = tracked(0);
    if (x && output.has_shape && output.shape.size() <= 1 && whole_reader(output.dtype))
      partial_[made] = *x;
  } else if (node.op == "Reshape" && output.has_shape && output.shape.size() <= 1 && tracked(0)) {
    partial_[made] = *tracked(0);
  } else if (node.op == "Concat" && output.has_shape && output.shape.size() == 1) {
    Ints all;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto part = tracked(i);
      if (!part) return;
      all.insert(all.end(), part->begin(), part->end());
    }
    if (all.size() <= kMostTracked) partial_[made] = std::move(all);
  } else if (node.op == "Slice" && shape(node.inputs[0]).size() == 1) {
    const auto x = tracked(0);
    const auto begin = known(node.inputs[1]), end = known(node.inputs[2]);
    const auto step = node.inputs.size() > 4 ? known(node.inputs[4]) : Ints{1};
    if (x && begin && end && step && begin->size() == 1 && (*step)[0] == 1) {
      const auto count = static_cast<int64_t>(x->size());
      const auto clamp = [&](int64_t at) {
        return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count);
      };
      const int64_t from = clamp((*begin)[0]), to = std::max(from, clamp((*end)[0]));
      partial_[made] = Ints(x->begin() + from, x->begin() + to);
    }
  } else if (node.op == "Gather" && shape(node.inputs[0]).size() == 1) {
    const auto x = tracked(0), at = known(node.inputs[1]);
    if (!x || !at || at->size() > kMostTracked) return;
    Ints picked;
    for (int64_t index : *at) {
      if (index < 0) index += static_cast<int64_t>(x->size());
      if (index < 0 || index >= static_cast<int64_t>(x->size())) return;
      picked.push_back((*x)[static_cast<size_t>(index)]);
    }
    partial_[made] = std::move(picked);
  }
  if (output.has_shape && is_static(output.shape)) return;
  const size_t at = node.op == "ConstantOfShape" ? 0 : 1;
  if (node.op == "Reshape" || node.op == "ConstantOfShape") {
    const auto extents = tracked(at);
    if (!extents || output.has_shape) return;
    output.has_shape = true;
    output.shape = *extents;
    for (int64_t& extent : output.shape) extent = extent > 0 ? extent : kDynamicDim;
  } else if (node.op == "Expand" && !output.has_shape) {
    auto extents = tracked(1);
    const ValueId list = node.inputs[1];
    if (!extents && is_fixed(list) && rank(list) == 1)
      extents = Ints(static_cast<size_t>(std::min<int64_t>(shape(list)[0], kMostTracked)), -1);
    if (!extents || extents->size() < shape(node.inputs[0]).size()) return;
    output.has_shape = true;
    output.shape = *extents;
    const Shape& from = shape(node.inputs[0]);
    for (size_t i = 0; i < output.shape.size(); ++i) {
      int64_t& extent = output.shape[i];
      const size_t before = output.shape.size() - from.size();
      const int64_t own = i < before ? 1 : from[i - before];
      if (extent <= 1) extent = extent == 1 && own >= 0 ? own : kDynamicDim;
    }
  }
  // The number of axes stays known where values decide the extents.
  const auto state = [&](Shape shape) {
    for (ValueId id : node.outputs) {
      graph::Value& value = graph_.values[static_cast<size_t>(id)];
      if (value.has_shape) continue;
      value.has_shape = true;
      value.shape = shape;
    }
  };
  if (output.has_shape || node.inputs.empty() || !has_shape(node.inputs[0])) return;
  const Shape& from = shape(node.inputs[0]);
  if (node.op == "NonMaxSuppression") {
    state({kDynamicDim, 3});
  } else if (node.op == "NonZero") {
    state({static_cast<int64_t>(from.size()), kDynamicDim});
  } else if (node.op == "Range" || node.op == "Unique") {
    state({kDynamicDim});
  } else if (node.op == "TopK" || node.op == "Compress") {
    const bool flat = node.op == "Compress" && !node.attrs.contains("axis");
    const auto count = static_cast<int64_t>(from.size());
    int64_t axis = node.int_attr("axis", -1);
    if (axis < 0) axis += count;
    Shape part = flat ? Shape{kDynamicDim} : from;
    if (!flat && axis >= 0 && axis < count) part[static_cast<size_t>(axis)] = kDynamicDim;
    state(std::move(part));
  } else if (node.op == "Tile" || node.op == "Pad") {
    state(Shape(from.size(), kDynamicDim));
  } else if (node.op == "Slice" && node.inputs.size() > 3) {
    const auto axes = known(node.inputs[3]);
    if (!axes) return;
    Shape part = from;
    for (int64_t axis : *axes) {
      if (axis < 0) axis += static_cast<int64_t>(part.size());
      if (axis >= 0 && axis < static_cast<int64_t>(part.size()))
        part[static_cast<size_t>(axis)] = kDynamicDim;
    }
    state(part);
  }
}

}  // namespace anynpu::tensorflow
