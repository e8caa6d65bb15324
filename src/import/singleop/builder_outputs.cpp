// SPDX-License-Identifier: Apache-2.0
// The outputs of an operator: the results of the nodes, checked against the program's description.
#include <algorithm>

#include "import/singleop/builder.h"

namespace anynpu::singleop {

namespace {

Shape without_ones(const Shape& shape) {
  Shape out;
  for (int64_t extent : shape) {
    if (extent != 1) out.push_back(extent);
  }
  return out;
}

// Whether a description fits what the nodes make: equal extents where both are known.
bool fits(const Shape& made, const Shape& described) {
  if (made.size() != described.size()) return false;
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] >= 0 && described[i] >= 0 && made[i] != described[i]) return false;
  }
  return true;
}

}  // namespace

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
    if (!ok()) return kNoValue;
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
    if (index == 0) refuse(Code::output_mismatch, "no output is described, expected at least one");
    return;
  }
  if (!op_.has_output(index) && index > 0) return;
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
    if (outputs_[o] == kNoValue && op_.has_output(o)) {
      refuse(Code::output_mismatch, "{} outputs are described, the operator makes {}",
             outputs_.size(), o);
    }
  }
  for (size_t i = 0; ok() && i < op_.inputs.size(); ++i) {
    if (has(i) && !read_[i]) {
      refuse(Code::shape_mismatch, "{} inputs are described, the operator does not take input {}",
             op_.inputs.size(), i);
    }
  }
  if (!ok()) return status_;
  for (size_t o = 0; o < outputs_.size(); ++o) {
    ValueId value = outputs_[o];
    if (value == kNoValue) continue;
    // An output must be a separate value: not an input, a constant or another output.
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

}  // namespace anynpu::singleop
