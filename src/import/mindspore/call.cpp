// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tensor/half.h"

namespace anynpu::mindspore {

namespace {

// MindSpore's numbers of element types, as arguments have them.
constexpr std::pair<int64_t, DType> kTypeNumbers[] = {
    {30, DType::boolean}, {31, DType::i32}, {32, DType::i8},   {33, DType::i16}, {34, DType::i32},
    {35, DType::i64},     {36, DType::u32}, {37, DType::u8},   {38, DType::u16}, {39, DType::u32},
    {40, DType::u64},     {41, DType::f32}, {42, DType::f16},  {43, DType::f32}, {44, DType::f64},
    {45, DType::bf16},    {47, DType::c64}, {48, DType::c128},
};

// A list of one kind of constants as an attribute; none when the kinds differ.
std::optional<singleop::Attr> as_list(const std::vector<Item>& items) {
  if (items.empty()) return singleop::Attr(std::vector<int64_t>{});
  std::vector<int64_t> whole;
  std::vector<float> reals;
  std::vector<std::string> texts;
  std::vector<std::vector<int64_t>> lists;
  for (const Item& item : items) {
    if (item.kind != Item::Kind::constant) return {};
    if (const auto* i = std::get_if<int64_t>(&item.constant)) whole.push_back(*i);
    if (const auto* b = std::get_if<bool>(&item.constant)) whole.push_back(*b);
    if (const auto* f = std::get_if<float>(&item.constant)) reals.push_back(*f);
    if (const auto* s = std::get_if<std::string>(&item.constant)) texts.push_back(*s);
    if (const auto* l = std::get_if<std::vector<int64_t>>(&item.constant)) lists.push_back(*l);
  }
  if (whole.size() == items.size()) return singleop::Attr(whole);
  if (reals.size() == items.size()) return singleop::Attr(reals);
  if (texts.size() == items.size()) return singleop::Attr(texts);
  if (lists.size() == items.size()) return singleop::Attr(lists);
  return {};
}

template <typename T>
bool append_element(T element, std::vector<std::byte>& out) {
  const auto* raw = reinterpret_cast<const std::byte*>(&element);
  out.insert(out.end(), raw, raw + sizeof element);
  return true;
}

// A number outside of a type of whole numbers becomes its nearest end.
template <typename T, typename N>
bool append_whole(N number, std::vector<std::byte>& out) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<N>) {
    return append_element(static_cast<T>(std::clamp<int64_t>(number, Limits::min(), Limits::max())),
                          out);
  }
  if (!(number > static_cast<N>(Limits::min()))) return append_element(Limits::min(), out);
  if (number >= static_cast<N>(Limits::max())) return append_element(Limits::max(), out);
  return append_element(static_cast<T>(number), out);
}

// False for types that no constant has.
template <typename N>
bool append_number(DType dtype, N number, std::vector<std::byte>& out) {
  switch (dtype) {
    case DType::f32:
      return append_element(static_cast<float>(number), out);
    case DType::f64:
      return append_element(static_cast<double>(number), out);
    case DType::f16:
      return append_element(to_f16(static_cast<float>(number)).bits, out);
    case DType::bf16:
      return append_element(to_bf16(static_cast<float>(number)).bits, out);
    case DType::i64:
      return append_whole<int64_t>(number, out);
    case DType::i32:
      return append_whole<int32_t>(number, out);
    case DType::i16:
      return append_whole<int16_t>(number, out);
    case DType::i8:
      return append_whole<int8_t>(number, out);
    case DType::u8:
      return append_whole<uint8_t>(number, out);
    case DType::boolean:
      return append_element(static_cast<uint8_t>(number != 0), out);
    default:
      return false;
  }
}

graph::Constant owned(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {owner, *owner};
}

}  // namespace

Item to_item(const Attribute& attribute) {
  const auto type = attribute.type;
  if (type >= 2 && type <= 7) return Item::of(singleop::Attr(attribute.integer));
  if (type == 12 || type == 13) return Item::of(singleop::Attr(attribute.integer));
  if (attribute.is(AttrType::boolean)) return Item::of(singleop::Attr(attribute.integer != 0));
  if (attribute.is(AttrType::real) || attribute.is(AttrType::f64) || attribute.is(AttrType::f16) ||
      attribute.is(AttrType::bf16)) {
    return Item::of(singleop::Attr(static_cast<float>(attribute.real)));
  }
  if (attribute.is(AttrType::text)) return Item::of(singleop::Attr(attribute.text));
  if (!attribute.is(AttrType::tuple) && !attribute.is(AttrType::list)) return {};
  std::vector<Item> items;
  for (const Attribute& value : attribute.values) items.push_back(to_item(value));
  if (auto list = as_list(items)) return Item::of(std::move(*list));
  return Item::of(std::move(items));
}

Call::Call(OpGraph& into, std::string node, std::string primitive, size_t outputs,
           std::vector<bool> read)
    : graph(into),
      name(std::move(node)),
      type(std::move(primitive)),
      output_count(outputs),
      wanted(std::move(read)) {}

const Item& Call::argument(size_t index) const {
  static const Item nothing;
  return index < arguments.size() ? arguments[index] : nothing;
}

const Item& Call::stated(const std::string& attribute, size_t argument_index) const {
  const auto found = attributes.find(attribute);
  return found != attributes.end() ? found->second : argument(argument_index);
}

Result<ValueId> Call::constant_tensor(const singleop::Attr& value, DType like) {
  std::vector<int64_t> whole;
  std::vector<double> numbers;
  Shape shape;
  DType dtype = DType::i64;
  if (const auto* i = std::get_if<int64_t>(&value)) {
    whole = {*i};
  } else if (const auto* b = std::get_if<bool>(&value)) {
    whole = {*b};
    dtype = DType::boolean;
  } else if (const auto* f = std::get_if<float>(&value)) {
    numbers = {*f};
    dtype = DType::f32;
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    whole = *ints;
    shape = {static_cast<int64_t>(ints->size())};
  } else if (const auto* floats = std::get_if<std::vector<float>>(&value)) {
    numbers.assign(floats->begin(), floats->end());
    shape = {static_cast<int64_t>(floats->size())};
    dtype = DType::f32;
  } else {
    return fail(Code::unsupported_feature, "a constant of type {} stands where a tensor is needed",
                singleop::type_name(value));
  }
  if (like != DType::undefined) dtype = like;
  for (double number : numbers) {
    if (is_floating(dtype) || number == std::floor(number)) continue;
    return fail(Code::unsupported_dtype,
                "the number {} meets a tensor of {}; cast the tensor to float32 in the network",
                number, name_of(dtype));
  }
  std::vector<std::byte> bytes;
  bool known = true;
  for (int64_t number : whole) known = known && append_number(dtype, number, bytes);
  for (double number : numbers) known = known && append_number(dtype, number, bytes);
  if (!known) {
    return fail(Code::unsupported_dtype,
                "a constant of {} stands in the model, which is not supported", name_of(dtype));
  }
  return graph.add_constant(format("{}/constant", name), dtype, std::move(shape),
                            owned(std::move(bytes)));
}

Result<ValueId> Call::tensor(const Item& item, DType like) {
  if (item.kind == Item::Kind::tensor) return item.tensor;
  if (item.kind == Item::Kind::nothing) return kNoValue;
  if (item.kind == Item::Kind::constant) return constant_tensor(item.constant, like);
  return fail(Code::unsupported_feature, "a tuple of {} stands where one tensor is needed",
              item.items.size());
}

Result<std::vector<ValueId>> Call::tensors(const Item& item) {
  std::vector<ValueId> out;
  if (item.kind == Item::Kind::tuple) {
    for (const Item& one : item.items) {
      ANYNPU_ASSIGN(const ValueId id, tensor(one));
      out.push_back(id);
    }
    return out;
  }
  ANYNPU_ASSIGN(const ValueId id, tensor(item));
  out.push_back(id);
  return out;
}

Result<std::vector<int64_t>> Call::integers(const Item& item, std::string_view what) const {
  if (item.is_tensor()) {
    auto values = graph.whole_numbers(item.tensor);
    if (values.ok()) return values;
  }
  if (const auto* i = std::get_if<int64_t>(&item.constant);
      i && item.kind == Item::Kind::constant) {
    return std::vector<int64_t>{*i};
  }
  if (const auto* list = std::get_if<std::vector<int64_t>>(&item.constant);
      list && item.kind == Item::Kind::constant) {
    return *list;
  }
  if (item.kind == Item::Kind::tuple) {
    std::vector<int64_t> out;
    for (const Item& one : item.items) {
      ANYNPU_ASSIGN(const int64_t value, integer(one, what));
      out.push_back(value);
    }
    return out;
  }
  return fail(Code::unsupported_feature,
              "{} must be whole numbers that are known when the model is converted", what);
}

Result<int64_t> Call::integer(const Item& item, std::string_view what) const {
  ANYNPU_ASSIGN(const std::vector<int64_t> values, integers(item, what));
  if (values.size() == 1) return values[0];
  return fail(Code::invalid_argument, "{} has {} numbers, expected one", what, values.size());
}

Result<double> Call::real(const Item& item, std::string_view what) const {
  if (item.kind == Item::Kind::constant) {
    if (const auto* f = std::get_if<float>(&item.constant)) return static_cast<double>(*f);
    if (const auto* i = std::get_if<int64_t>(&item.constant)) return static_cast<double>(*i);
    if (const auto* b = std::get_if<bool>(&item.constant)) return *b ? 1.0 : 0.0;
  }
  if (item.is_tensor() && item.tensor >= 0) {
    const graph::Value& value = graph.value(item.tensor);
    float single = 0;
    if (value.constant && value.dtype == DType::f32 &&
        value.constant->bytes.size() == sizeof single) {
      std::memcpy(&single, value.constant->bytes.data(), sizeof single);
      return static_cast<double>(single);
    }
  }
  return fail(Code::unsupported_feature,
              "{} must be a number that is known when the model is converted", what);
}

Result<bool> Call::flag(const Item& item, std::string_view what) const {
  if (item.kind == Item::Kind::constant) {
    if (const auto* b = std::get_if<bool>(&item.constant)) return *b;
    if (const auto* i = std::get_if<int64_t>(&item.constant)) return *i != 0;
  }
  return fail(Code::unsupported_feature,
              "{} must be true or false and known when the model is converted", what);
}

Result<std::string> Call::word(const Item& item, std::string_view what,
                               const std::vector<std::string>& by_number) const {
  if (item.kind == Item::Kind::constant) {
    if (const auto* s = std::get_if<std::string>(&item.constant)) return *s;
    if (const auto* i = std::get_if<int64_t>(&item.constant);
        i && *i >= 0 && *i < static_cast<int64_t>(by_number.size())) {
      return by_number[static_cast<size_t>(*i)];
    }
  }
  return fail(Code::unsupported_feature,
              "{} must be a word that is known when the model is "
              "converted",
              what);
}

Result<DType> Call::dtype(const Item& item, std::string_view what) const {
  ANYNPU_ASSIGN(const int64_t number, integer(item, what));
  for (const auto& [known, dtype] : kTypeNumbers) {
    if (known == number) return dtype;
  }
  return fail(Code::unsupported_dtype, "{} is the type number {} of MindSpore, which is not known",
              what, number);
}

Result<std::vector<ValueId>> Call::add(std::string_view vendor_type, std::vector<ValueId> inputs,
                                       singleop::Attrs attrs, Format layout) {
  singleop::SingleOp op;
  op.type = vendor_type;
  op.attrs = std::move(attrs);
  op.inputs.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool picture = inputs[i] >= 0 && shape(inputs[i]).size() == 4;
    op.inputs[i].format = picture ? layout : Format::nd;
  }
  op.outputs.resize(output_count);
  for (size_t o = 0; o < output_count; ++o) {
    op.outputs[o].shape = {kUnknownRank};
    if (o < wanted.size() && !wanted[o]) continue;
    op.outputs[o].format = layout;
    if (o < output_types.size()) op.outputs[o].dtype = output_types[o];
  }
  return graph.add(name, std::move(op), inputs);
}

Result<ValueId> Call::step(std::string_view vendor_type, std::vector<ValueId> inputs,
                           singleop::Attrs attrs, Format layout, DType out) {
  Call part(graph, format("{}/{}{}", name, vendor_type, ++steps_), type, 1, {true});
  singleop::SingleOp op;
  op.type = vendor_type;
  op.attrs = std::move(attrs);
  op.inputs.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool picture = inputs[i] >= 0 && shape(inputs[i]).size() == 4;
    op.inputs[i].format = picture ? layout : Format::nd;
  }
  op.outputs.resize(1);
  op.outputs[0].shape = {kUnknownRank};
  op.outputs[0].format = layout;
  op.outputs[0].dtype = out;
  ANYNPU_ASSIGN(const std::vector<ValueId> made, graph.add(part.name, std::move(op), inputs));
  return made[0];
}

Result<ValueId> Call::scalar(DType dtype, double value) {
  return constant_tensor(singleop::Attr(static_cast<float>(value)), dtype);
}

Result<ValueId> Call::number(const Item& item, DType dtype, std::string_view what) {
  if (item.kind == Item::Kind::constant && std::holds_alternative<int64_t>(item.constant))
    return constant_tensor(item.constant, dtype);
  ANYNPU_ASSIGN(const double value, real(item, what));
  return scalar(dtype, value);
}

Result<ValueId> Call::list(const std::vector<int64_t>& values) {
  return constant_tensor(singleop::Attr(values), DType::i64);
}

}  // namespace anynpu::mindspore
