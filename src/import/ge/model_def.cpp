// SPDX-License-Identifier: Apache-2.0
#include "import/ge/model_def.h"

#include "base/text.h"

namespace anynpu::ge {

namespace {

struct TypeNumber {
  std::string_view name;
  DType dtype = DType::undefined;
};

// By their number in the file.
constexpr TypeNumber kTypes[] = {
    {"DT_UNDEFINED"},
    {"DT_FLOAT", DType::f32},
    {"DT_FLOAT16", DType::f16},
    {"DT_INT8", DType::i8},
    {"DT_UINT8", DType::u8},
    {"DT_INT16", DType::i16},
    {"DT_UINT16", DType::u16},
    {"DT_INT32", DType::i32},
    {"DT_INT64", DType::i64},
    {"DT_UINT32", DType::u32},
    {"DT_UINT64", DType::u64},
    {"DT_BOOL", DType::boolean},
    {"DT_DOUBLE", DType::f64},
    {"DT_STRING", DType::string},
    {"DT_DUAL_SUB_INT8"},
    {"DT_DUAL_SUB_UINT8"},
    {"DT_COMPLEX64", DType::c64},
    {"DT_COMPLEX128", DType::c128},
    {"DT_QINT8", DType::i8},
    {"DT_QINT16", DType::i16},
    {"DT_QINT32", DType::i32},
    {"DT_QUINT8", DType::u8},
    {"DT_QUINT16", DType::u16},
    {"DT_RESOURCE"},
    {"DT_STRING_REF"},
    {"DT_DUAL"},
    {"DT_VARIANT"},
    {"DT_BF16", DType::bf16},
    {"DT_INT4", DType::i4},
    {"DT_UINT1", DType::u1},
    {"DT_INT2"},
    {"DT_UINT2"},
    {"DT_COMPLEX32", DType::c32},
    {"DT_HIFLOAT8", DType::hif8},
    {"DT_FLOAT8_E5M2", DType::f8e5m2},
    {"DT_FLOAT8_E4M3FN", DType::f8e4m3},
    {"DT_FLOAT8_E8M0", DType::f8e8m0},
    {"DT_FLOAT6_E3M2", DType::f6e3m2},
    {"DT_FLOAT6_E2M3", DType::f6e2m3},
    {"DT_FLOAT4_E2M1", DType::f4e2m1},
    {"DT_FLOAT4_E1M2", DType::f4e1m2},
    {"DT_HIFLOAT4"},
};

constexpr Format kFormats[] = {
    Format::nchw,        Format::nhwc,         Format::nd,    Format::nc1hwc0,    Format::fractal_z,
    Format::nc1hwc0_c04, Format::hwcn,         Format::ndhwc, Format::fractal_nz, Format::ncdhw,
    Format::ndc1hwc0,    Format::fractal_z_3d, Format::nc,    Format::ncl,
};

Result<TensorDef> read_tensor(const WireField& message);

struct ListValue {
  std::vector<std::string> texts;
  std::vector<int64_t> whole, types;
  std::vector<float> reals;
  std::vector<int64_t> flags;
  int64_t kind = 0;
};

Status add_string(const WireField& field, std::vector<std::string>& to) {
  std::string text;
  ANYNPU_TRY(field.to(text));
  to.push_back(std::move(text));
  return {};
}

Result<singleop::Attr> read_list(const WireField& message) {
  ListValue list;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 2 || field.number == 7) ANYNPU_TRY(add_string(field, list.texts));
    if (field.number == 3) ANYNPU_TRY(field.append_to(list.whole));
    if (field.number == 4) ANYNPU_TRY(field.append_to(list.reals));
    if (field.number == 5) ANYNPU_TRY(field.append_to(list.flags));
    if (field.number == 12) ANYNPU_TRY(field.append_to(list.types));
    if (field.number == 20) ANYNPU_TRY(field.to(list.kind));
  }
  ANYNPU_TRY(reader.status());
  if (!list.texts.empty() || list.kind == 1) return singleop::Attr(std::move(list.texts));
  if (!list.reals.empty() || list.kind == 3) return singleop::Attr(std::move(list.reals));
  if (!list.flags.empty() || list.kind == 4) {
    std::vector<bool> flags;
    for (int64_t flag : list.flags) flags.push_back(flag != 0);
    return singleop::Attr(std::move(flags));
  }
  if (!list.types.empty() || list.kind == 10) {
    std::vector<DType> types;
    for (int64_t type : list.types) types.push_back(static_cast<DType>(type));
    return singleop::Attr(std::move(types));
  }
  return singleop::Attr(std::move(list.whole));
}

Result<singleop::Attr> read_lists(const WireField& message) {
  std::vector<std::vector<int64_t>> lists;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number != 1) continue;
    std::vector<int64_t> list;
    WireReader inner(field);
    WireField element;
    while (inner.next(element)) {
      if (element.number == 1) ANYNPU_TRY(element.append_to(list));
    }
    ANYNPU_TRY(inner.status());
    lists.push_back(std::move(list));
  }
  ANYNPU_TRY(reader.status());
  return singleop::Attr(std::move(lists));
}

// AttrDef: into `attrs`, or into `tensors` when it is one. Graphs and functions are not kept.
Status read_value(const WireField& message, const std::string& key, singleop::Attrs& attrs,
                  std::map<std::string, TensorDef>* tensors) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    int64_t whole = 0;
    float real = 0;
    std::string text;
    switch (field.number) {
      case 1: {
        ANYNPU_ASSIGN(attrs[key], read_list(field));
        break;
      }
      case 2:
      case 7:
      case 17:
        ANYNPU_TRY(field.to(text));
        attrs[key] = std::move(text);
        break;
      case 3:
        ANYNPU_TRY(field.to(whole));
        attrs[key] = whole;
        break;
      case 4:
        ANYNPU_TRY(field.to(real));
        attrs[key] = real;
        break;
      case 5:
        ANYNPU_TRY(field.to(whole));
        attrs[key] = whole != 0;
        break;
      case 12:
        if (tensors) {
          ANYNPU_ASSIGN((*tensors)[key], read_tensor(field));
        }
        break;
      case 14: {
        ANYNPU_ASSIGN(attrs[key], read_lists(field));
        break;
      }
      case 15:
        ANYNPU_TRY(field.to(whole));
        attrs[key] = static_cast<DType>(whole);
        break;
      default:
        break;
    }
  }
  return reader.status();
}

// One entry of a map from names to AttrDef.
Status read_attr(const WireField& message, singleop::Attrs& attrs,
                 std::map<std::string, TensorDef>* tensors = nullptr) {
  std::string key;
  WireField value;
  bool has_value = false;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(key));
    if (field.number == 2) value = field, has_value = true;
  }
  ANYNPU_TRY(reader.status());
  return has_value ? read_value(value, key, attrs, tensors) : Status{};
}

Status read_shape(const WireField& message, TensorDef& tensor) {
  tensor.has_shape = true;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.append_to(tensor.shape));
  }
  return reader.status();
}

void set_origin(const singleop::Attrs& attrs, TensorDef& tensor) {
  tensor.origin_format = tensor.format;
  tensor.origin_shape = tensor.shape;
  if (const auto found = attrs.find("origin_format"); found != attrs.end()) {
    const auto* name = std::get_if<std::string>(&found->second);
    if (name && format_named(*name) != Format::undefined) {
      tensor.origin_format = format_named(*name);
    }
  }
  if (const auto found = attrs.find("origin_shape"); found != attrs.end()) {
    const auto* shape = std::get_if<std::vector<int64_t>>(&found->second);
    if (shape) tensor.origin_shape = *shape;
  }
}

Result<TensorDef> read_desc(const WireField& message) {
  TensorDef tensor;
  singleop::Attrs attrs;
  int64_t type = 0;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(tensor.name));
        break;
      case 2:
        ANYNPU_TRY(field.to(type));
        break;
      case 3:
        ANYNPU_TRY(read_shape(field, tensor));
        break;
      case 4:
        ANYNPU_TRY(field.to(tensor.layout));
        break;
      case 5:
        ANYNPU_TRY(read_attr(field, attrs));
        break;
      case 10:
        ANYNPU_TRY(field.to(tensor.size));
        break;
      case 11:
        ANYNPU_TRY(field.to(tensor.weight_size));
        break;
      case 18:
        ANYNPU_TRY(field.to(tensor.data_offset));
        break;
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  tensor.dtype = dtype_of_number(type);
  tensor.format = tensor.layout.empty() ? Format::nd : format_named(tensor.layout);
  set_origin(attrs, tensor);
  return tensor;
}

Result<TensorDef> read_tensor(const WireField& message) {
  TensorDef tensor;
  std::span<const std::byte> data;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) {
      ANYNPU_ASSIGN(tensor, read_desc(field));
    }
    if (field.number == 2) ANYNPU_TRY(field.to(data));
  }
  ANYNPU_TRY(reader.status());
  tensor.data = data;
  return tensor;
}

Result<OpDef> read_op(const WireField& message) {
  OpDef op;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(op.name));
        break;
      case 2:
        ANYNPU_TRY(field.to(op.type));
        break;
      case 5:
        ANYNPU_TRY(add_string(field, op.inputs));
        break;
      case 10:
        ANYNPU_TRY(read_attr(field, op.attrs, &op.tensors));
        break;
      case 33:
      case 34: {
        ANYNPU_ASSIGN(TensorDef desc, read_desc(field));
        (field.number == 33 ? op.input_descs : op.output_descs).push_back(std::move(desc));
        break;
      }
      case 35:
        ANYNPU_TRY(add_string(field, op.subgraphs));
        break;
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status(), "in the operator '{}'", op.name);
  return op;
}

Result<GraphDef> read_graph(const WireField& message) {
  GraphDef graph;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(graph.name));
    if (field.number == 6) {
      ANYNPU_ASSIGN(OpDef op, read_op(field));
      graph.ops.push_back(std::move(op));
    }
  }
  ANYNPU_TRY(reader.status());
  return graph;
}

}  // namespace

Format format_named(std::string_view name) {
  for (const Format format : kFormats) {
    if (name_of(format) == name) return format;
  }
  return Format::undefined;
}

DType dtype_of_number(int64_t number) {
  const bool known = number >= 0 && number < static_cast<int64_t>(std::size(kTypes));
  return known ? kTypes[number].dtype : DType::undefined;
}

std::string dtype_name(int64_t number) {
  const bool known = number >= 0 && number < static_cast<int64_t>(std::size(kTypes));
  return known ? std::string(kTypes[number].name) : std::to_string(number);
}

bool TensorDef::is_blocked() const {
  return format == Format::nc1hwc0 || format == Format::fractal_z || format == Format::fractal_nz ||
         format == Format::nc1hwc0_c04 || format == Format::ndc1hwc0 ||
         format == Format::fractal_z_3d || format == Format::undefined;
}

int64_t OpDef::int_attr(const std::string& key, int64_t otherwise) const {
  const auto found = attrs.find(key);
  if (found == attrs.end()) return otherwise;
  const auto* value = std::get_if<int64_t>(&found->second);
  return value ? *value : otherwise;
}

std::string OpDef::string_attr(const std::string& key, const std::string& otherwise) const {
  const auto found = attrs.find(key);
  if (found == attrs.end()) return otherwise;
  const auto* value = std::get_if<std::string>(&found->second);
  return value ? *value : otherwise;
}

std::string ModelDef::string_attr(const std::string& key) const {
  const auto found = attrs.find(key);
  if (found == attrs.end()) return {};
  const auto* value = std::get_if<std::string>(&found->second);
  return value ? *value : std::string();
}

Result<ModelDef> read_model_def(std::span<const std::byte> bytes) {
  ModelDef model;
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(model.name));
        break;
      case 2:
        ANYNPU_TRY(field.to(model.version));
        break;
      case 3:
        ANYNPU_TRY(field.to(model.custom_version));
        break;
      case 7: {
        ANYNPU_ASSIGN(GraphDef graph, read_graph(field));
        model.graphs.push_back(std::move(graph));
        break;
      }
      case 11:
        ANYNPU_TRY(read_attr(field, model.attrs));
        break;
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  if (model.graphs.empty() || model.graphs[0].ops.empty()) {
    return fail(Code::parse_error,
                "the description of the model ({} bytes) has no operators; expected a graph of the "
                "vendor's operators (ModelDef)",
                bytes.size());
  }
  return model;
}

// Its graphs are in field 7, as in .mindir and ONNX, but have operators in field 6 and no field 2,
// which is the name of a graph there.
bool looks_like_model_def(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    if (field.number != 7 || field.type != WireType::bytes) continue;
    bool has_ops = false, has_name = false;
    WireReader graph(field);
    WireField part;
    while (graph.next(part)) {
      has_ops = has_ops || part.number == 6;
      has_name = has_name || part.number == 2;
    }
    if (has_ops && !has_name) return true;
  }
  return false;
}

}  // namespace anynpu::ge
