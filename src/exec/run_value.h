// SPDX-License-Identifier: Apache-2.0
// RunValue: a value of a graph during a run of a StepProgram: a tensor with its actual shape, a
// sequence of such, or nothing (an operand left out, an empty optional). Cheap to copy: copies
// share the data, which is immutable once it is shared.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::exec {

class RunItems;

struct RunValue {
  enum class Kind : uint8_t { nothing, tensor, sequence };
  Kind kind = Kind::nothing;
  DType dtype = DType::undefined;
  Shape shape;
  std::shared_ptr<std::byte> data;        // aligned to 64 where it is ours
  std::shared_ptr<const RunItems> items;  // of a sequence

  bool is_tensor() const { return kind == Kind::tensor; }
  size_t bytes() const { return bytes_of(dtype, static_cast<size_t>(element_count(shape))); }

  // Becomes nothing; the capacity of its shape is kept for the next value.
  void clear() {
    kind = Kind::nothing;
    data.reset();
    items.reset();
  }

  // Borrowed memory, which must live until the run is over.
  static RunValue borrow(DType dtype, Shape shape, const void* data);
  void set_borrowed(DType dtype, const Shape& shape, const void* data);
  void set_sequence(DType dtype, std::shared_ptr<const RunItems> items);
};

// A list of values: the elements of a sequence, or the results of loop iterations. When cleared, it
// keeps its capacity for the next ones.
class RunItems {
 public:
  size_t size() const { return size_; }
  const RunValue& operator[](size_t index) const { return values_[index]; }
  std::span<const RunValue> values() const { return {values_.data(), size_}; }

  // One more at the end, to be assigned to or swapped with.
  RunValue& add();
  void reverse();
  void clear();

 private:
  std::vector<RunValue> values_;
  size_t size_ = 0;
};

// An empty list; goes back to a pool with its last reference.
std::shared_ptr<RunItems> take_items();

// Makes a tensor with new memory; reuses the capacity of the value's shape. Fails for unknown
// shapes, strings, and sizes beyond the machine's memory.
Status make_tensor(DType dtype, const Shape& shape, RunValue& value);

// Element `index` of an integer or boolean tensor; `what` names it in error messages.
Result<int64_t> read_integer(const RunValue& value, int64_t index, const graph::Node& node,
                             std::string_view what);
// The one element of such a tensor.
Result<int64_t> read_scalar(const RunValue& value, const graph::Node& node, std::string_view what);

// The functions below write to `out`, which must not be one of their inputs.

// Part `index` along `axis`, without the axis.
Status slice_of(const RunValue& tensor, int64_t axis, int64_t index, RunValue& out);
// Elements [begin, begin + length) along `axis`.
Status piece_of(const RunValue& tensor, int64_t axis, int64_t begin, int64_t length, RunValue& out);
// Tensors of one type side by side along `axis`; `fresh_axis`: the axis is new.
Status join_tensors(std::span<const RunValue> parts, int64_t axis, bool fresh_axis, RunValue& out);

}  // namespace anynpu::exec
