// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/builder.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "import/singleop/table.h"
#include "ops/registry.h"
#include "tensor/half.h"
#include "tensor/layout.h"
#include "tensor/onnx_type.h"

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

}  // namespace

Builder::Builder(const SingleOp& op, bool wide)
    : op_(op),
      wide_(wide),
      stored_(op.inputs.size(), kNoValue),
      inputs_(op.inputs.size(), kNoValue),
      read_(op.inputs.size(), false),
      outputs_(op.outputs.size(), kNoValue) {
  graph_.name = op.name.empty() ? op.type : op.name;
  for (size_t i = 0; i < op.inputs.size() && ok(); ++i) {
    if (has(i)) stored_[i] = add_input(i);
  }
  for (size_t o = 0; o < op.outputs.size(); ++o) check_blocks("output", o, op.outputs[o]);
}

// A tensor described only in a blocked format has the extents of blocks.
void Builder::check_blocks(const char* side, size_t index, const TensorDesc& desc) {
  if (!is_blocked(desc.format) || desc.unknown_rank() || desc.dtype == DType::undefined) return;
  const bool pictures = desc.format == Format::nc1hwc0;
  const size_t rank = desc.shape.size();
  const int64_t width = block_width(desc.dtype);
  const auto is = [&](size_t from_end, int64_t extent) {
    const int64_t given = desc.shape[rank - from_end];
    return given < 0 || given == extent;
  };
  const bool ranked = pictures                           ? rank == 5
                      : desc.format == Format::fractal_z ? rank == 4
                                                         : rank >= 4;
  if (ranked && is(1, width) && (pictures || is(2, kBlockRows))) return;
  refuse(Code::unsupported_shape,
         "{} {} is described as {} of {} in {}, which ends in {}; describe it in ND or convert it "
         "with TransData",
         side, index, to_string(desc.shape), name_of(desc.dtype), name_of(desc.format),
         pictures ? format("{} channels as the last of 5 axes", width)
                  : format("blocks of {} x {}", kBlockRows, width));
}

ValueId Builder::add_input(size_t index) {
  const TensorDesc& desc = op_.inputs[index];
  if (desc.unknown_rank()) {
    refuse(Code::unsupported_shape,
           "input {} has an unknown number of dimensions; describe it with -1 for each open extent",
           index);
    return kNoValue;
  }
  check_blocks("input", index, desc);
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
    refuse(Code::shape_mismatch, "{} inputs are described, the operator needs input {}",
           op_.inputs.size(), index);
    return kNoValue;
  }
  read_[index] = true;
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

void Builder::leave(size_t index) {
  if (index < read_.size()) read_[index] = true;
}

ValueId Builder::in_row(size_t index) {
  const ValueId value = this->index(in(index));
  if (!ok()) return kNoValue;
  if (rank(value) > 1) {
    refuse(Code::unsupported_shape, "input {} has the shape {}, expected numbers in a row", index,
           to_string(shape(value)));
  }
  return ok() && rank(value) == 0 ? reshape(value, {1}) : value;
}

int64_t Builder::in_value(size_t index) {
  const auto values = in_values(index);
  if (ok() && values.size() != 1) {
    refuse(Code::invalid_argument, "input {} has {} numbers, expected one", index, values.size());
  }
  return ok() ? values[0] : 0;
}

std::vector<int64_t> Builder::in_values(size_t index) {
  if (in(index) == kNoValue) return {};
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
  auto context = ops::infer(graph_, node);
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

ValueId Builder::whole(DType dtype, int64_t value) {
  std::vector<std::byte> bytes;
  append(bytes, value);
  return cast(constant(DType::i64, {}, std::move(bytes)), dtype);
}

ValueId Builder::table(Shape shape, const std::vector<float>& values) {
  std::vector<std::byte> bytes;
  for (float value : values) append(bytes, value);
  return constant(DType::f32, std::move(shape), std::move(bytes));
}

ValueId Builder::filled(DType dtype, Shape shape, double value) {
  if (!ok()) return kNoValue;
  std::vector<std::byte> bytes;
  const int64_t count = element_count(shape);
  if (count < 0) {
    refuse(Code::unsupported_shape, "a tensor of {} is asked for, expected known extents",
           to_string(shape));
    return kNoValue;
  }
  for (int64_t n = 0; n < count; ++n) {
    if (append_number(dtype, value, bytes)) continue;
    refuse(Code::unsupported_dtype, "the type {} is not supported here", name_of(dtype));
    return kNoValue;
  }
  return constant(dtype, std::move(shape), std::move(bytes));
}

ValueId Builder::cast(ValueId value, DType to) {
  if (!ok() || value == kNoValue || dtype(value) == to) return value;
  return node("Cast", 13, {value}, {{"to", cast_number(to)}});
}

ValueId Builder::index(ValueId value) {
  const bool whole = has_type(value, "a tensor of axes, indices or extents",
                              {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32,
                               DType::i64, DType::u64});
  return whole ? cast(value, DType::i64) : kNoValue;
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

bool Builder::has_type(ValueId value, const char* what, std::initializer_list<DType> taken) {
  if (!ok() || value == kNoValue) return false;
  if (contains(taken, dtype(value))) return true;
  std::string list;
  for (DType type : taken) list += format("{}{}", list.empty() ? "" : ", ", name_of(type));
  refuse(Code::unsupported_dtype, "{} has the type {}, expected {}", what, name_of(dtype(value)),
         list);
  return false;
}

bool Builder::has_count(ValueId value, const char* what, int64_t count) {
  if (!ok()) return false;
  const int64_t given = element_count(shape(value));
  if (given < 0 || given == count) return true;
  refuse(Code::shape_mismatch, "{} has the shape {}, expected {} elements", what,
         to_string(shape(value)), count);
  return false;
}

std::vector<int64_t> Builder::axes(std::vector<int64_t> given, ValueId value) {
  if (!ok()) return {};
  for (int64_t& one : given) one = axis(one, value);
  for (size_t i = 0; ok() && i < given.size(); ++i) {
    if (std::count(given.begin(), given.end(), given[i]) > 1)
      refuse(Code::invalid_argument, "axis {} is named more than once", given[i]);
  }
  return given;
}

int64_t Builder::axis(int64_t given, ValueId value) {
  const int64_t count = rank(value);
  if (given >= -count && given < count) return given < 0 ? given + count : given;
  refuse(Code::invalid_argument, "axis {} of a tensor with {} dimensions; expected {} to {}", given,
         count, -count, count - 1);
  return 0;
}

Result<graph::Graph> build_graph(const SingleOp& op) {
  const VendorOp* row = find_vendor_op(op.type);
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
    const auto made = b.nodes(std::string(row->becomes).c_str(), row->opset, std::move(inputs),
                              op.outputs.size());
    for (size_t o = 0; o < made.size(); ++o) b.out(o, made[o]);
  }
  return b.finish();
}

}  // namespace anynpu::singleop
