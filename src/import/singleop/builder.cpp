// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/builder.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "import/singleop/table.h"
#include "ops/registry.h"
#include "tensor/half.h"
#include "tensor/layout.h"

namespace anynpu::singleop {

namespace {

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

bool append_number(DType dtype, double value, std::vector<std::byte>& bytes) {
  switch (dtype) {
    case DType::f32:
      append(bytes, static_cast<float>(value));
      return true;
    case DType::f16:
      append(bytes, to_f16(static_cast<float>(value)).bits);
      return true;
    case DType::bf16:
      append(bytes, to_bf16(static_cast<float>(value)).bits);
      return true;
    case DType::f64:
      append(bytes, value);
      return true;
    case DType::i8:
      append(bytes, static_cast<int8_t>(value));
      return true;
    case DType::u8:
    case DType::boolean:
      append(bytes, static_cast<uint8_t>(value));
      return true;
    case DType::i16:
      append(bytes, static_cast<int16_t>(value));
      return true;
    case DType::u16:
      append(bytes, static_cast<uint16_t>(value));
      return true;
    case DType::i32:
      append(bytes, static_cast<int32_t>(value));
      return true;
    case DType::u32:
      append(bytes, static_cast<uint32_t>(value));
      return true;
    case DType::i64:
      append(bytes, static_cast<int64_t>(value));
      return true;
    case DType::u64:
      append(bytes, static_cast<uint64_t>(value));
      return true;
    default:
      return false;
  }
}

// TensorProto.DataType of a type; 0 when it has none, which Cast refuses by name.
int64_t onnx_number(DType dtype) {
  constexpr DType kTypes[] = {
      DType::undefined, DType::f32, DType::u8,     DType::i8,      DType::u16, DType::i16,
      DType::i32,       DType::i64, DType::string, DType::boolean, DType::f16, DType::f64,
      DType::u32,       DType::u64, DType::c64,    DType::c128,    DType::bf16};
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i] == dtype) return static_cast<int64_t>(i);
  }
  return 0;
}

Shape without_ones(const Shape& shape) {
  Shape out;
  for (int64_t extent : shape) {
    if (extent != 1) out.push_back(extent);
  }
  return out;
}

bool is_short_float(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

// Whether a description fits what the nodes make: equal extents where both are known.
bool fits(const Shape& made, const Shape& described) {
  if (made.size() != described.size()) return false;
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] >= 0 && described[i] >= 0 && made[i] != described[i]) return false;
  }
  return true;
}

}  // namespace

Builder::Builder(const SingleOp& op, bool wide)
    : op_(op),
      wide_(wide),
      stored_(op.inputs.size(), kNoValue),
      inputs_(op.inputs.size(), kNoValue),
      outputs_(op.outputs.size(), kNoValue) {
  graph_.name = op.name.empty() ? op.type : op.name;
  for (size_t i = 0; i < op.inputs.size() && ok(); ++i) {
    if (has(i)) stored_[i] = add_input(i);
  }
}

ValueId Builder::add_input(size_t index) {
  const TensorDesc& desc = op_.inputs[index];
  if (desc.unknown_rank()) {
    refuse(Code::unsupported_shape,
           "input {} has an unknown number of dimensions; describe it with -1 for each open extent",
           index);
    return kNoValue;
  }
  const bool blocked = desc.storage_format != Format::undefined && !desc.storage_shape.empty();
  graph::Value value;
  value.name = desc.name.empty() ? format("x{}", index) : desc.name;
  value.dtype = desc.dtype;
  value.shape = blocked ? desc.storage_shape : desc.shape;
  value.has_shape = true;
  value.format = blocked ? desc.storage_format : desc.format;
  if (graph_.find_value(value.name) != kNoValue) value.name = format("x{}", index);
  if (desc.is_constant) {
    const int64_t count = element_count(value.shape);
    if (count < 0 || desc.constant.size() != bytes_of(desc.dtype, static_cast<size_t>(count))) {
      refuse(Code::shape_mismatch,
             "the constant of input {} has {} bytes, its description says {} of {}", index,
             desc.constant.size(), to_string(value.shape), name_of(desc.dtype));
      return kNoValue;
    }
    auto owner = std::make_shared<const std::vector<std::byte>>(desc.constant);
    value.constant = std::make_shared<const graph::Constant>(graph::Constant{owner, *owner});
  }
  const bool fed = !value.constant;
  const ValueId id = graph_.add_value(std::move(value));
  if (fed) graph_.inputs.push_back(id);
  return id;
}

ValueId Builder::in(size_t index) {
  if (!ok()) return kNoValue;
  if (!has(index)) {
    refuse(Code::invalid_argument, "{} inputs are described, the operator needs input {}",
           op_.inputs.size(), index);
    return kNoValue;
  }
  if (inputs_[index] != kNoValue) return inputs_[index];
  const TensorDesc& desc = op_.inputs[index];
  ValueId value = stored_[index];
  if (desc.storage_format != Format::undefined && desc.storage_format != desc.format &&
      is_blocked(desc.storage_format)) {
    value = from_blocked(*this, value, desc.storage_format, desc.format, desc.shape);
  }
  if (wide_ && is_short_float(dtype(value))) value = cast(value, DType::f32);
  return inputs_[index] = value;
}

ValueId Builder::in_nchw(size_t index) {
  const ValueId value = in(index);
  if (!ok()) return kNoValue;
  const Format format = op_.inputs[index].format;
  if (format == Format::nc1hwc0 && rank(value) == 5) {
    const Shape& s = shape(value);
    return from_blocked(*this, value, format, Format::nchw, {s[0], s[1] * s[4], s[2], s[3]});
  }
  if (format == Format::nhwc || format == Format::hwcn)
    return permute_axes(*this, value, format, Format::nchw);
  if (format == Format::ndhwc) return permute_axes(*this, value, format, Format::ncdhw);
  return value;
}

std::vector<int64_t> Builder::in_values(size_t index) {
  if (!ok()) return {};
  if (!is_known(index)) {
    refuse(Code::unsupported_feature,
           "the value of input {} must be known before the operator is compiled; call "
           "aclSetTensorConst for it (acl.set_tensor_const)",
           index);
    return {};
  }
  const TensorDesc& desc = op_.inputs[index];
  std::vector<int64_t> out;
  const size_t width = size_of(desc.dtype);
  for (size_t at = 0; width > 0 && at + width <= desc.constant.size(); at += width) {
    int64_t value = 0;
    const std::byte* from = desc.constant.data() + at;
    if (desc.dtype == DType::i32) {
      int32_t narrow;
      std::memcpy(&narrow, from, sizeof(narrow));
      value = narrow;
    } else if (desc.dtype == DType::i64) {
      std::memcpy(&value, from, sizeof(value));
    } else {
      refuse(Code::unsupported_dtype, "input {} has the type {}, expected int32 or int64", index,
             name_of(desc.dtype));
      return {};
    }
    out.push_back(value);
  }
  return out;
}

template <typename T>
const T* Builder::find(const char* name) {
  const auto found = op_.attrs.find(name);
  if (!ok() || found == op_.attrs.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  refuse(Code::invalid_argument, "attribute '{}' is set as {}, expected {}", name,
         type_name(found->second), type_name(Attr(T{})));
  return nullptr;
}

int64_t Builder::i(const char* name) {
  if (!has_attr(name)) refuse(Code::invalid_argument, "attribute '{}' (int) is missing", name);
  return i(name, 0);
}
int64_t Builder::i(const char* name, int64_t otherwise) {
  const int64_t* value = find<int64_t>(name);
  return value ? *value : otherwise;
}
float Builder::f(const char* name, float otherwise) {
  const float* value = find<float>(name);
  return value ? *value : otherwise;
}
bool Builder::flag(const char* name, bool otherwise) {
  const bool* value = find<bool>(name);
  return value ? *value : otherwise;
}
std::string Builder::s(const char* name, const char* otherwise) {
  const std::string* value = find<std::string>(name);
  return value ? *value : otherwise;
}
std::vector<int64_t> Builder::ints(const char* name) {
  if (!has_attr(name)) refuse(Code::invalid_argument, "attribute '{}' (list_int) is missing", name);
  return ints(name, {});
}
std::vector<int64_t> Builder::ints(const char* name, std::vector<int64_t> otherwise) {
  const auto* value = find<std::vector<int64_t>>(name);
  return value ? *value : otherwise;
}
std::vector<float> Builder::floats(const char* name) {
  const auto* value = find<std::vector<float>>(name);
  return value ? *value : std::vector<float>{};
}
std::vector<std::string> Builder::strings(const char* name) {
  const auto* value = find<std::vector<std::string>>(name);
  return value ? *value : std::vector<std::string>{};
}
DType Builder::dtype_attr(const char* name, DType otherwise) {
  const auto found = op_.attrs.find(name);
  if (found == op_.attrs.end()) return otherwise;
  if (const auto* type = std::get_if<DType>(&found->second)) return *type;
  return static_cast<DType>(i(name));
}

// Values that are known now, such as axes, are computed now: shapes depend on them.
bool Builder::fold(ops::OpContext& context, const std::vector<ValueId>& outputs) {
  constexpr int64_t kMostElements = 4096;
  if (context.inputs.empty()) return false;  // random numbers: new ones in every run
  for (const ops::Operand& input : context.inputs) {
    if (input.present && !input.is_constant) return false;
  }
  for (const ops::Operand& output : context.outputs) {
    if (!output.fully_known() || element_count(output.shape) > kMostElements) return false;
  }
  auto results = ops::evaluate(context);
  if (!results.ok()) return false;
  for (size_t o = 0; o < outputs.size(); ++o) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move((*results)[o]));
    graph_.values[static_cast<size_t>(outputs[o])].constant =
        std::make_shared<const graph::Constant>(graph::Constant{owner, *owner});
  }
  return true;
}

std::vector<ValueId> Builder::nodes(const char* name, int64_t opset, std::vector<ValueId> inputs,
                                    size_t outputs, NodeAttrs attrs) {
  const std::vector<ValueId> none(outputs, kNoValue);
  if (!ok()) return none;
  graph::Node node;
  const std::string_view whole = name;
  const size_t dot = whole.rfind('.');
  node.op = whole.substr(dot == whole.npos ? 0 : dot + 1);
  if (dot != whole.npos) node.domain = whole.substr(0, dot);
  node.opset = opset;
  node.name = next_++ == 0 ? op_.type : format("{}_{}", op_.type, next_);
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (size_t o = 0; o < outputs; ++o) {
    graph::Value value;
    value.name = format("{}:{}", node.name, o);
    node.outputs.push_back(graph_.add_value(std::move(value)));
  }
  std::vector<ops::Operand> operands;
  for (ValueId id : node.inputs) operands.push_back(ops::Operand::of(graph_, id));
  auto context = ops::infer(node, std::move(operands));
  if (!context.ok()) {
    status_ = context.status().with_note(format("in operator {}", op_.type));
    return none;
  }
  for (size_t o = 0; o < outputs; ++o) {
    graph::Value& value = graph_.values[static_cast<size_t>(node.outputs[o])];
    value.dtype = context->outputs[o].dtype;
    value.has_shape = context->outputs[o].has_shape;
    value.shape = context->outputs[o].shape;
  }
  std::vector<ValueId> made = node.outputs;
  if (fold(*context, made)) return made;
  graph_.nodes.push_back(std::move(node));
  return made;
}

ValueId Builder::node(const char* name, int64_t opset, std::vector<ValueId> inputs,
                      NodeAttrs attrs) {
  return nodes(name, opset, std::move(inputs), 1, std::move(attrs))[0];
}

ValueId Builder::constant(DType dtype, Shape shape, std::vector<std::byte> bytes) {
  graph::Value value;
  value.name = format("{}:constant{}", op_.type, next_++);
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.has_shape = true;
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  value.constant = std::make_shared<const graph::Constant>(graph::Constant{owner, *owner});
  return graph_.add_value(std::move(value));
}

ValueId Builder::list(const std::vector<int64_t>& values) {
  std::vector<std::byte> bytes;
  for (int64_t value : values) append(bytes, value);
  return constant(DType::i64, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

ValueId Builder::scalar(DType dtype, double value) { return filled(dtype, {}, value); }

ValueId Builder::filled(DType dtype, Shape shape, double value) {
  if (!ok()) return kNoValue;
  std::vector<std::byte> bytes;
  const int64_t count = element_count(shape);
  for (int64_t n = 0; n < count; ++n) {
    if (append_number(dtype, value, bytes)) continue;
    refuse(Code::unsupported_dtype, "the type {} is not supported here", name_of(dtype));
    return kNoValue;
  }
  return constant(dtype, std::move(shape), std::move(bytes));
}

ValueId Builder::cast(ValueId value, DType to) {
  if (!ok() || value == kNoValue || dtype(value) == to) return value;
  return node("Cast", 13, {value}, {{"to", onnx_number(to)}});
}

ValueId Builder::reshape(ValueId value, const Shape& to) {
  return node("Reshape", 13, {value, list(to)});
}

ValueId Builder::transpose(ValueId value, const std::vector<int64_t>& permutation) {
  return node("Transpose", 13, {value}, {{"perm", permutation}});
}

DType Builder::dtype(ValueId value) const {
  return value == kNoValue ? DType::undefined : graph_.values[static_cast<size_t>(value)].dtype;
}

const Shape& Builder::shape(ValueId value) const {
  static const Shape none;
  return value == kNoValue ? none : graph_.values[static_cast<size_t>(value)].shape;
}

bool Builder::has_rank(ValueId value, const char* what, int64_t least, int64_t most) {
  if (!ok()) return false;
  if (rank(value) >= least && rank(value) <= most) return true;
  refuse(Code::unsupported_shape, "{} has {} axes, expected {} to {}", what, rank(value), least,
         most);
  return false;
}

int64_t Builder::axis(int64_t given, ValueId value) {
  const int64_t count = rank(value);
  if (given >= -count && given < count) return given < 0 ? given + count : given;
  refuse(Code::invalid_argument, "axis {} of a tensor with {} dimensions; expected {} to {}", given,
         count, -count, count - 1);
  return 0;
}

DType Builder::narrow_type(const TensorDesc& desc) const {
  if (desc.dtype != DType::undefined) return is_short_float(desc.dtype) ? desc.dtype : DType::f32;
  const bool narrow = !op_.inputs.empty() && is_short_float(op_.inputs[0].dtype);
  return narrow ? op_.inputs[0].dtype : DType::f32;
}

ValueId Builder::fit_output(size_t index, ValueId value, Type type) {
  if (!ok()) return kNoValue;
  const TensorDesc& desc = op_.outputs[index];
  if (wide_ && dtype(value) == DType::f32) value = cast(value, narrow_type(desc));
  if (desc.dtype != DType::undefined && dtype(value) != desc.dtype) {
    if (type == Type::same) {
      refuse(Code::unsupported_dtype, "output {} is described as {}, the operator makes {}", index,
             name_of(desc.dtype), name_of(dtype(value)));
      return kNoValue;
    }
    value = cast(value, desc.dtype);
  }
  graph::Value& made = graph_.values[static_cast<size_t>(value)];
  if (desc.unknown_rank() || desc.dtype == DType::undefined) return value;  // to be inferred
  if (!made.has_shape) {
    made.shape = desc.shape;
    made.has_shape = true;
    return value;
  }
  if (fits(made.shape, desc.shape)) {
    for (size_t d = 0; d < made.shape.size(); ++d) {
      if (made.shape[d] < 0 && !op_.is_dynamic()) made.shape[d] = desc.shape[d];
    }
    return value;
  }
  if (is_static(made.shape) && is_static(desc.shape) &&
      without_ones(made.shape) == without_ones(desc.shape)) {
    return reshape(value, desc.shape);
  }
  refuse(Code::unsupported_shape, "output {} is described as {}, the operator makes {}", index,
         to_string(desc.shape), to_string(made.shape));
  return kNoValue;
}

void Builder::out(size_t index, ValueId value, Type type) {
  if (!ok() || value == kNoValue) return;
  if (index >= outputs_.size()) {
    // Outputs at the end may be left out of the description.
    if (index == 0) refuse(Code::invalid_argument, "no output is described, expected at least one");
    return;
  }
  if (op_.outputs[index].dtype == DType::undefined &&
      op_.outputs[index].format == Format::undefined && index > 0) {
    return;  // left out
  }
  value = fit_output(index, value, type);
  const TensorDesc& desc = op_.outputs[index];
  if (ok() && desc.storage_format != Format::undefined && desc.storage_format != desc.format &&
      is_blocked(desc.storage_format)) {
    value = to_blocked(*this, value, desc.format, desc.storage_format, desc.dtype);
  }
  outputs_[index] = value;
}

void Builder::out_nchw(size_t index, ValueId value, Type type) {
  if (!ok() || value == kNoValue || index >= outputs_.size()) return out(index, value, type);
  const Format format = op_.outputs[index].format;
  if (format == Format::nhwc || format == Format::hwcn) {
    value = permute_axes(*this, value, Format::nchw, format);
  } else if (format == Format::ndhwc) {
    value = permute_axes(*this, value, Format::ncdhw, format);
  } else if (format == Format::nc1hwc0) {
    value = to_blocked(*this, value, Format::nchw, format, dtype(value));
  }
  out(index, value, type);
}

Result<graph::Graph> Builder::finish() {
  for (size_t o = 0; ok() && o < outputs_.size(); ++o) {
    const bool left_out =
        op_.outputs[o].dtype == DType::undefined && op_.outputs[o].format == Format::undefined;
    if (outputs_[o] == kNoValue && !left_out) {
      refuse(Code::invalid_argument, "{} outputs are described, the operator makes {}",
             outputs_.size(), o);
    }
  }
  if (!ok()) return status_;
  for (size_t o = 0; o < outputs_.size(); ++o) {
    ValueId value = outputs_[o];
    if (value == kNoValue) continue;
    // An output is a value of its own: not an input, a constant or another output.
    graph::Value& made = graph_.values[static_cast<size_t>(value)];
    const bool fed = std::count(graph_.inputs.begin(), graph_.inputs.end(), value) > 0;
    if (fed || made.constant ||
        std::count(graph_.outputs.begin(), graph_.outputs.end(), value) > 0) {
      value = node("Identity", 13, {value});
    }
    if (!ok()) return status_;
    graph_.values[static_cast<size_t>(value)].format = op_.outputs[o].format;
    graph_.outputs.push_back(value);
  }
  ANYNPU_TRY(graph_.verify());
  return std::move(graph_);
}

Result<graph::Graph> build_graph(const SingleOp& op) {
  const Row* row = find_row(op.type);
  if (!row) {
    return fail(Code::unsupported_op,
                "no operator is called '{}'; docs/operator_names.md lists the names that are there",
                op.type);
  }
  if (op.outputs.empty()) {
    return fail(Code::invalid_argument, "{}: no output is described, expected at least one",
                op.type);
  }
  Builder b(op, rounds_often(*row));
  if (row->lower) {
    row->lower(b);
  } else {
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < op.inputs.size(); ++i) inputs.push_back(b.in_or_none(i));
    const auto made =
        b.nodes(std::string(row->ours).c_str(), row->opset, std::move(inputs), op.outputs.size());
    for (size_t o = 0; o < made.size(); ++o) b.out(o, made[o]);
  }
  return b.finish();
}

}  // namespace anynpu::singleop
