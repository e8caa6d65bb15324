// SPDX-License-Identifier: Apache-2.0
// The JSON files of `atc --singleop`.
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "import/singleop/op.h"
#include "tensor/hifloat8.h"
#include "tensor/microscaling.h"

namespace anynpu::singleop {

namespace {

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr TypeName kTypes[] = {
    {"float16", DType::f16},
    {"fp16", DType::f16},
    {"half", DType::f16},
    {"float", DType::f32},
    {"float32", DType::f32},
    {"double", DType::f64},
    {"bool", DType::boolean},
    {"int8", DType::i8},
    {"uint8", DType::u8},
    {"int16", DType::i16},
    {"uint16", DType::u16},
    {"int32", DType::i32},
    {"uint32", DType::u32},
    {"int64", DType::i64},
    {"uint64", DType::u64},
    {"bfloat16", DType::bf16},
    {"complex64", DType::c64},
    {"complex128", DType::c128},
    {"complex32", DType::c32},
    {"int4", DType::i4},
    {"uint1", DType::u1},
    {"hifloat8", DType::hif8},
    {"float8_e5m2", DType::f8e5m2},
    {"float8_e4m3fn", DType::f8e4m3},
    {"float8_e8m0", DType::f8e8m0},
    {"float6_e3m2", DType::f6e3m2},
    {"float6_e2m3", DType::f6e2m3},
    {"float4_e2m1", DType::f4e2m1},
    {"UNDEFINED", DType::undefined},
};

// JSON has no numbers for these: attributes hold them as texts.
constexpr std::pair<std::string_view, float> kNotFinite[] = {
    {"nan", std::numeric_limits<float>::quiet_NaN()},
    {"inf", std::numeric_limits<float>::infinity()},
    {"-inf", -std::numeric_limits<float>::infinity()}};

constexpr Format kReserved = static_cast<Format>(40);
constexpr Format kFormats[] = {Format::nchw,     Format::nhwc,         Format::nd,
                               Format::nc1hwc0,  Format::fractal_z,    Format::hwcn,
                               Format::ndhwc,    Format::fractal_nz,   Format::ncdhw,
                               Format::ndc1hwc0, Format::fractal_z_3d, Format::nc1hwc0_c04};

Result<DType> type_of(const std::string& text, std::string_view where) {
  for (const TypeName& row : kTypes) {
    if (row.name == text) return row.dtype;
  }
  return fail(Code::file_invalid,
              "{}: type '{}' is not known; expected one such as float16 or int32", where, text);
}

Result<Format> format_of(const std::string& text, std::string_view where) {
  if (text == "RESERVED") return kReserved;
  for (Format f : kFormats) {
    if (name_of(f) == text) return f;
  }
  return fail(Code::file_invalid, "{}: format '{}' is not known; expected one such as ND or NCHW",
              where, text);
}

Result<std::string> text_at(const json::Value& object, const char* key, std::string_view where) {
  const json::Value* value = object.find(key);
  if (value && value->string()) return *value->string();
  return fail(Code::file_invalid, "{}: '{}' is {}, expected a text", where, key,
              value ? value->kind() : "missing");
}

// "" where the key is not there.
Result<std::string> optional_text(const json::Value& object, const char* key,
                                  std::string_view where) {
  return object.find(key) ? text_at(object, key, where) : Result<std::string>(std::string());
}

Result<std::vector<int64_t>> integers(const json::Value& value, std::string_view where) {
  if (!value.array())
    return fail(Code::file_invalid, "{} is {}, expected a list of numbers", where, value.kind());
  std::vector<int64_t> out;
  for (const json::Value& item : *value.array()) {
    ANYNPU_ASSIGN(const int64_t number, item.integer(), "in {}", where);
    out.push_back(number);
  }
  return out;
}

template <typename T>
void append_raw(std::vector<std::byte>& bytes, T value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

Status append_constant(const json::Value& item, DType dtype, std::string_view where,
                       std::vector<std::byte>& bytes) {
  if (item.boolean()) {
    append_raw(bytes, static_cast<uint8_t>(*item.boolean()));
    return {};
  }
  const auto refused = [&] {
    return fail(Code::file_invalid, "{}: no constants of {}", where, name_of(dtype));
  };
  if (is_floating(dtype)) {
    ANYNPU_ASSIGN(const double real, item.real(), "in {}", where);
    switch (dtype) {
      case DType::f16:
        append_raw(bytes, to_f16(static_cast<float>(real)).bits);
        return {};
      case DType::bf16:
        append_raw(bytes, to_bf16(static_cast<float>(real)).bits);
        return {};
      case DType::f32:
        append_raw(bytes, static_cast<float>(real));
        return {};
      case DType::f64:
        append_raw(bytes, real);
        return {};
      case DType::f8e5m2:
        append_raw(bytes, to_f8e5m2(real).bits);
        return {};
      case DType::f8e4m3:
        append_raw(bytes, to_f8e4m3(real).bits);
        return {};
      case DType::hif8:
        append_raw(bytes, to_hif8(real).bits);
        return {};
      case DType::f8e8m0:
        append_raw(bytes, to_f8e8m0(real).bits);
        return {};
      default:
        return refused();
    }
  }
  ANYNPU_ASSIGN(const int64_t number, item.integer(), "in {}", where);
  const size_t width = size_of(dtype);
  if (width == 0 || width > 8 || bits_of(dtype) < 8) return refused();
  const auto* raw = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), raw, raw + width);
  return {};
}

Status read_constant(const json::Value& value, std::string_view where, TensorDesc& desc) {
  // As to_json() writes it: two digits a byte.
  if (const json::Value* digits = value.find("const_bytes"); digits && digits->string()) {
    const std::string& text = *digits->string();
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
      const auto byte = std::strtoul(text.substr(i, 2).c_str(), nullptr, 16);
      desc.constant.push_back(static_cast<std::byte>(byte));
    }
    desc.is_constant = true;
    return {};
  }
  const json::Value* flag = value.find("is_const");
  if (!flag) return {};
  if (!flag->boolean()) {
    return fail(Code::file_invalid, "{}: 'is_const' is {}, expected true or false", where,
                flag->kind());
  }
  if (!*flag->boolean()) return {};
  const json::Value* list = value.find("const_value");
  if (!list || !list->array())
    return fail(Code::file_invalid, "{}: is_const is true and const_value is no list", where);
  for (const json::Value& item : *list->array())
    ANYNPU_TRY(append_constant(item, desc.dtype, where, desc.constant));
  if (desc.constant.size() != desc.byte_count()) {
    return fail(Code::file_invalid, "{}: const_value has {} elements, the shape {} has {}", where,
                list->array()->size(), to_string(desc.shape), desc.element_count());
  }
  desc.is_constant = true;
  return {};
}

Status read_ranges(const json::Value& value, std::string_view where, TensorDesc& desc) {
  const json::Value* ranges = value.find("shape_range");
  if (!ranges) return {};
  if (!ranges->array() || ranges->array()->size() != desc.shape.size()) {
    return fail(Code::file_invalid, "{}: shape_range needs one pair for each of {} dimensions",
                where, desc.shape.size());
  }
  for (const json::Value& item : *ranges->array()) {
    ANYNPU_ASSIGN(const auto pair, integers(item, where));
    if (pair.size() != 2)
      return fail(Code::file_invalid, "{}: a range of {} numbers, expected 2", where, pair.size());
    desc.shape_ranges.emplace_back(pair[0], pair[1]);
  }
  return check_ranges(desc.shape_ranges);
}

Result<TensorDesc> read_desc(const json::Value& value, const std::string& where) {
  TensorDesc desc;
  if (!value.object())
    return fail(Code::file_invalid, "{} is {}, expected an object", where, value.kind());
  ANYNPU_ASSIGN(const std::string type, text_at(value, "type", where));
  ANYNPU_ASSIGN(desc.dtype, type_of(type, where));
  ANYNPU_ASSIGN(const std::string layout, text_at(value, "format", where));
  ANYNPU_ASSIGN(desc.format, format_of(layout, where));
  if (desc.format == kReserved || desc.dtype == DType::undefined) {
    desc.format = Format::undefined;  // an input left out
    desc.dtype = DType::undefined;
    return desc;
  }
  const json::Value* shape = value.find("shape");
  if (!shape) return fail(Code::file_invalid, "{}: 'shape' is missing", where);
  ANYNPU_ASSIGN(desc.shape, integers(*shape, where + ".shape"));
  ANYNPU_TRY(check_desc_shape(desc.shape), "in {}", where);
  ANYNPU_ASSIGN(desc.name, optional_text(value, "name", where));
  ANYNPU_ASSIGN(desc.dynamic_input, optional_text(value, "dynamic_input", where));
  ANYNPU_TRY(read_ranges(value, where, desc));
  // The file gives the storage format; the origin format is what the operator computes with.
  if (value.find("origin_format") && value.find("origin_shape")) {
    desc.storage_format = desc.format;
    desc.storage_shape = desc.shape;
    ANYNPU_ASSIGN(const std::string origin, text_at(value, "origin_format", where));
    ANYNPU_ASSIGN(desc.format, format_of(origin, where));
    ANYNPU_ASSIGN(desc.shape, integers(*value.find("origin_shape"), where + ".origin_shape"));
    if (desc.format == desc.storage_format && desc.shape == desc.storage_shape) {
      desc.storage_format = Format::undefined;
      desc.storage_shape.clear();
    }
  }
  ANYNPU_TRY(read_constant(value, where, desc));
  return desc;
}

Result<std::vector<TensorDesc>> read_descs(const json::Value& op, const char* key,
                                           std::string_view where) {
  const json::Value* list = op.find(key);
  if (!list || !list->array()) {
    return fail(Code::file_invalid, "{}: '{}' is {}, expected a list of tensor descriptions", where,
                key, list ? list->kind() : "missing");
  }
  std::vector<TensorDesc> out;
  for (size_t i = 0; i < list->array()->size(); ++i) {
    ANYNPU_ASSIGN(TensorDesc desc,
                  read_desc((*list->array())[i], format("{}: {}[{}]", where, key, i)));
    out.push_back(std::move(desc));
  }
  return out;
}

template <typename T, typename Read>
Result<std::vector<T>> list_of(const json::Value& value, std::string_view where, Read&& read) {
  if (!value.array())
    return fail(Code::file_invalid, "{} is {}, expected a list", where, value.kind());
  std::vector<T> out;
  for (const json::Value& item : *value.array()) {
    ANYNPU_ASSIGN(T element, read(item));
    out.push_back(std::move(element));
  }
  return out;
}

Result<Attr> read_value(const std::string& type, const json::Value& value, std::string_view where) {
  const auto flag = [&](const json::Value& v) -> Result<bool> {
    if (v.boolean()) return *v.boolean();
    return fail(Code::file_invalid, "{} is {}, expected true or false", where, v.kind());
  };
  const auto whole = [&](const json::Value& v) { return v.integer(); };
  const auto real = [&](const json::Value& v) -> Result<float> {
    for (const auto& [text, number] : kNotFinite) {
      if (v.string() && *v.string() == text) return number;
    }
    ANYNPU_ASSIGN(const double d, v.real(), "in {}", where);
    return static_cast<float>(d);
  };
  const auto text = [&](const json::Value& v) -> Result<std::string> {
    if (v.string()) return *v.string();
    return fail(Code::file_invalid, "{} is {}, expected a text", where, v.kind());
  };
  const auto data_type = [&](const json::Value& v) -> Result<DType> {
    if (v.string()) return type_of(*v.string(), where);
    ANYNPU_ASSIGN(const int64_t number, v.integer(), "in {}", where);
    const auto narrow = static_cast<int32_t>(number);
    if (narrow != number) return fail(Code::file_invalid, "{} is {}, no data type", where, number);
    ANYNPU_TRY(check_dtype(narrow));
    return static_cast<DType>(narrow);
  };
  const auto row = [&](const json::Value& v) { return integers(v, where); };
#define ANYNPU_READ_ATTR(word, expression)               \
  if (type == word) {                                    \
    ANYNPU_ASSIGN(auto got, expression, "in {}", where); \
    return Attr(std::move(got));                         \
  }
  ANYNPU_READ_ATTR("bool", flag(value))
  ANYNPU_READ_ATTR("int", whole(value))
  ANYNPU_READ_ATTR("float", real(value))
  ANYNPU_READ_ATTR("string", text(value))
  ANYNPU_READ_ATTR("data_type", data_type(value))
  ANYNPU_READ_ATTR("list_bool", list_of<bool>(value, where, flag))
  ANYNPU_READ_ATTR("list_int", list_of<int64_t>(value, where, whole))
  ANYNPU_READ_ATTR("list_float", list_of<float>(value, where, real))
  ANYNPU_READ_ATTR("list_string", list_of<std::string>(value, where, text))
  ANYNPU_READ_ATTR("list_data_type", list_of<DType>(value, where, data_type))
  ANYNPU_READ_ATTR("list_list_int", list_of<std::vector<int64_t>>(value, where, row))
#undef ANYNPU_READ_ATTR
  return fail(Code::file_invalid,
              "{}: type '{}' is not known; expected one such as int or list_int", where, type);
}

std::string word_of(DType dtype) {
  if (dtype == DType::undefined) return "UNDEFINED";
  for (const TypeName& row : kTypes) {
    if (row.dtype == dtype) return std::string(row.name);
  }
  return "UNDEFINED";
}

json::Value list_value(const std::vector<int64_t>& list) {
  json::Array out;
  for (int64_t v : list) out.emplace_back(v);
  return out;
}

json::Value desc_value(const TensorDesc& desc) {
  json::Value out;
  if (desc.dtype == DType::undefined) {
    out.set("type", "UNDEFINED");
    out.set("format", "RESERVED");
    return out;
  }
  const bool stored = desc.storage_format != Format::undefined;
  out.set("type", word_of(desc.dtype));
  out.set("format", std::string(name_of(stored ? desc.storage_format : desc.format)));
  out.set("shape", list_value(stored ? desc.storage_shape : desc.shape));
  if (stored) {
    out.set("origin_format", std::string(name_of(desc.format)));
    out.set("origin_shape", list_value(desc.shape));
  }
  if (desc.is_constant) {
    std::string digits;
    for (std::byte b : desc.constant) {
      digits += "0123456789abcdef"[static_cast<unsigned>(b) >> 4];
      digits += "0123456789abcdef"[static_cast<unsigned>(b) & 15];
    }
    out.set("const_bytes", digits);
  }
  if (!desc.shape_ranges.empty()) {
    json::Array ranges;
    for (const auto& [low, high] : desc.shape_ranges) ranges.push_back(list_value({low, high}));
    out.set("shape_range", std::move(ranges));
  }
  return out;
}

struct AttrValue {
  json::Value operator()(bool v) { return v; }
  json::Value operator()(int64_t v) { return v; }
  json::Value operator()(float v) {
    for (const auto& [text, number] : kNotFinite) {
      if (v == number || (std::isnan(v) && std::isnan(number))) return std::string(text);
    }
    return static_cast<double>(v);
  }
  json::Value operator()(const std::string& v) { return v; }
  json::Value operator()(DType v) { return static_cast<int64_t>(v); }
  template <typename T>
  json::Value operator()(const std::vector<T>& list) {
    json::Array out;
    for (const auto& item : list) out.push_back((*this)(static_cast<const T&>(item)));
    return out;
  }
};

}  // namespace

Result<SingleOp> from_json(const json::Value& value, std::string_view what) {
  if (!value.object())
    return fail(Code::file_invalid, "{} is {}, expected an object", what, value.kind());
  SingleOp op;
  ANYNPU_ASSIGN(op.type, text_at(value, "op", what));
  ANYNPU_ASSIGN(op.name, optional_text(value, "name", what));
  const std::string where = format("{} ({})", what, op.type);
  ANYNPU_ASSIGN(op.inputs, read_descs(value, "input_desc", where));
  ANYNPU_ASSIGN(op.outputs, read_descs(value, "output_desc", where));
  const json::Value* attrs = value.find("attr");
  if (!attrs) return op;
  if (!attrs->array())
    return fail(Code::file_invalid, "{}: 'attr' is {}, expected a list", where, attrs->kind());
  for (const json::Value& item : *attrs->array()) {
    ANYNPU_ASSIGN(const std::string name, text_at(item, "name", where));
    ANYNPU_ASSIGN(const std::string type, text_at(item, "type", where));
    const json::Value* content = item.find("value");
    if (!content) return fail(Code::file_invalid, "{}: attribute '{}' has no value", where, name);
    ANYNPU_ASSIGN(op.attrs[name],
                  read_value(type, *content, format("{}: attribute '{}'", where, name)));
  }
  return op;
}

namespace {

// Each operator becomes a separate file in one folder.
Status check_file_names(const std::vector<SingleOp>& ops, std::string_view what) {
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < ops.size(); ++i) {
    const std::string& name = ops[i].name;
    if (name.find('/') != std::string::npos || name.find('\0') != std::string::npos) {
      return fail(Code::file_invalid,
                  "{}: operator {} is named '{}'; expected the name of a file, without a folder: "
                  "--output names that",
                  what, i, name);
    }
    const auto [first, fresh] = seen.emplace(name.empty() ? file_name(ops[i], i) : name, i);
    if (!fresh) {
      return fail(Code::file_invalid,
                  "{}: operators {} and {} are both named '{}', one file would replace the other; "
                  "give each its own name",
                  what, first->second, i, first->first);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<SingleOp>> parse_file_text(std::string_view text, std::string_view what) {
  ANYNPU_ASSIGN(const json::Value value, json::parse(text, what));
  if (!value.array()) {
    return fail(Code::file_invalid, "{} holds {}, expected a list of operators", what,
                value.kind());
  }
  std::vector<SingleOp> ops;
  for (size_t i = 0; i < value.array()->size(); ++i) {
    ANYNPU_ASSIGN(SingleOp op, from_json((*value.array())[i], format("{}: operator {}", what, i)));
    ops.push_back(std::move(op));
  }
  if (ops.empty()) return fail(Code::file_invalid, "{} lists no operator; add one", what);
  ANYNPU_TRY(check_file_names(ops, what));
  return ops;
}

json::Value to_json(const SingleOp& op) {
  json::Value out;
  out.set("op", op.type);
  if (!op.name.empty()) out.set("name", op.name);
  for (const auto& [key, descs] :
       {std::pair{"input_desc", &op.inputs}, {"output_desc", &op.outputs}}) {
    json::Array list;
    for (const TensorDesc& desc : *descs) list.push_back(desc_value(desc));
    out.set(key, std::move(list));
  }
  json::Array attrs;
  for (const auto& [name, attr] : op.attrs) {
    json::Value item;
    item.set("name", name);
    item.set("type", std::string(type_name(attr)));
    item.set("value", std::visit(AttrValue{}, attr));
    attrs.push_back(std::move(item));
  }
  if (!attrs.empty()) out.set("attr", std::move(attrs));
  return out;
}

}  // namespace anynpu::singleop
