// SPDX-License-Identifier: Apache-2.0
// Builder: lowers one vendor operator to nodes of ours. After the first failure every call does
// nothing, so that the rules (lower_*.cpp) need no error checks; finish() reports it. Every node is
// inferred as it is added: types and shapes of all values are known.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "import/singleop/op.h"
#include "ops/schema.h"

namespace anynpu::singleop {

using graph::kNoValue;
using graph::ValueId;
using NodeAttrs = std::map<std::string, graph::Attr>;

class Builder {
 public:
  // `wide`: 16-bit floats are computed as float32 (rounds_often in table.h).
  explicit Builder(const SingleOp& op, bool wide = false);

  bool ok() const { return status_.ok(); }
  const SingleOp& op() const { return op_; }
  const std::string& type() const { return op_.type; }
  size_t input_count() const { return op_.inputs.size(); }
  size_t output_count() const { return op_.outputs.size(); }
  bool has(size_t index) const { return op_.has_input(index); }

  // Input `index` in its original format: converted from its storage format if it has one.
  ValueId in(size_t index);
  ValueId in_or_none(size_t index) { return has(index) ? in(index) : kNoValue; }
  // Input `index` as N, C, H, W, whatever its format says, and whether it was NHWC.
  ValueId in_nchw(size_t index);
  // Axes, indices or extents: an integer input as an int64 vector (a scalar becomes a vector of
  // one).
  ValueId in_row(size_t index);
  // The elements of an input that is known before the operator runs; fails when it is not.
  std::vector<int64_t> in_values(size_t index);
  int64_t in_value(size_t index);  // exactly one
  // Ignores an input that is not needed here. finish() refuses inputs that are neither read nor
  // ignored.
  void leave(size_t index);
  bool is_known(size_t index) const { return has(index) && op_.inputs[index].is_constant; }

  // Attributes, with a default or required.
  int64_t i(const char* name);
  int64_t i(const char* name, int64_t otherwise);
  int64_t i_between(const char* name, int64_t otherwise, int64_t least, int64_t most);
  // An attribute that repeats a known number: it may be missing, but not differ.
  void counts(const char* name, int64_t actual, const char* what);
  float f(const char* name);
  float f(const char* name, float otherwise);
  bool flag(const char* name, bool otherwise);
  std::string s(const char* name, const char* otherwise);
  // One of the accepted words.
  std::string word(const char* name, const char* otherwise,
                   std::initializer_list<std::string_view> taken);
  std::vector<int64_t> ints(const char* name);
  std::vector<int64_t> ints(const char* name, std::vector<int64_t> otherwise);
  std::vector<float> floats(const char* name);         // empty when it is not there
  std::vector<std::string> strings(const char* name);  // the same
  DType dtype_attr(const char* name, DType otherwise);
  bool has_attr(const char* name) const { return op_.attrs.count(name) > 0; }

  // Operators of another domain than ONNX's are named with it: "anynpu.PsRoiPool".
  ValueId node(const char* name, int64_t opset, std::vector<ValueId> inputs, NodeAttrs attrs = {});
  std::vector<ValueId> nodes(const char* name, int64_t opset, std::vector<ValueId> inputs,
                             size_t outputs, NodeAttrs attrs = {});
  ValueId list(const std::vector<int64_t>& values);              // a constant int64 vector
  ValueId scalar(DType dtype, double value);                     // a constant of rank 0
  ValueId whole(DType dtype, int64_t value);                     // the same, exact for all 64 bits
  ValueId filled(DType dtype, Shape shape, double value);        // a constant of equal elements
  ValueId table(Shape shape, const std::vector<float>& values);  // a constant float32 tensor
  ValueId cast(ValueId value, DType dtype);                      // no-op if it has that type
  ValueId index(ValueId value);                        // as int64; fails for other than integers
  ValueId reshape(ValueId value, const Shape& shape);  // -1 and 0 as in Reshape
  ValueId transpose(ValueId value, const std::vector<int64_t>& permutation);

  DType dtype(ValueId value) const;
  const Shape& shape(ValueId value) const;
  int64_t rank(ValueId value) const { return static_cast<int64_t>(shape(value).size()); }
  // Whether a value has `least` to `most` axes; refuses with its name otherwise.
  bool has_rank(ValueId value, const char* what, int64_t least,
                int64_t most = static_cast<int64_t>(kMaxDims));
  // Whether a value has one of the types; refuses with its name otherwise.
  bool has_type(ValueId value, const char* what, std::initializer_list<DType> taken);
  // An axis that may count from the end, counted from the front; fails if out of range.
  int64_t axis(int64_t given, ValueId value);
  // The same for several, each named once.
  std::vector<int64_t> axes(std::vector<int64_t> given, ValueId value);
  // Whether a value has `count` elements; refuses with its name otherwise.
  bool has_count(ValueId value, const char* what, int64_t count);

  // What an output may differ in from what the nodes make.
  enum class Type { same, any };
  void out(size_t index, ValueId value, Type type = Type::same);
  void out_nchw(size_t index, ValueId value, Type type = Type::same);

  template <typename... Args>
  void refuse(Code code, FormatString<Args...> text, const Args&... args) {
    if (ok()) status_ = fail(code, "{}: {}", op_.type, anynpu::format(text, args...));
  }

  Result<graph::Graph> finish();

 private:
  template <typename T>
  const T* find(const char* name);
  void require(const char* name, const char* type);
  void check_blocks(const char* side, size_t index, const TensorDesc& desc);
  ValueId add_input(size_t index);
  ValueId constant(DType dtype, Shape shape, std::vector<std::byte> bytes);
  bool fold(ops::OpContext& context, const std::vector<ValueId>& outputs);
  ValueId fit_output(size_t index, ValueId value, Type type);

  // The type of an output whose description leaves it open or says so: what was widened is 16 bits
  // wide again.
  DType narrow_type(const TensorDesc& desc) const;

  const SingleOp& op_;
  const bool wide_;
  Status status_;
  graph::Graph graph_;
  std::vector<ValueId> stored_;  // of each input, as it lies in memory
  std::vector<ValueId> inputs_;  // of each input, out of its storage format; kNoValue = not yet
  std::vector<bool> read_;       // of each input: the operator takes it
  std::vector<ValueId> outputs_;
  int64_t next_ = 0;
};

inline bool is_short_float(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

inline bool is_blocked(Format format) {
  return format == Format::nc1hwc0 || format == Format::fractal_z || format == Format::fractal_nz;
}

// Format conversions as nodes (layout.cpp): what TransData does. `shape` is the one in axis format,
// for the way back.
ValueId to_blocked(Builder& b, ValueId value, Format from, Format to, DType dtype);
ValueId from_blocked(Builder& b, ValueId value, Format from, Format to, const Shape& shape);
ValueId permute_axes(Builder& b, ValueId value, Format from, Format to);

}  // namespace anynpu::singleop
