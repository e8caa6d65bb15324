// SPDX-License-Identifier: Apache-2.0
// RunValue: what a value of a graph is during a run of the StepRunner: a tensor whose shape is
// known now, a sequence of such, or nothing (an operand left out, an empty optional). Cheap to
// copy: copies share the data, which nobody changes once it was handed on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::exec {

struct RunValue {
  enum class Kind : uint8_t { nothing, tensor, sequence };
  Kind kind = Kind::nothing;
  DType dtype = DType::undefined;
  Shape shape;
  std::shared_ptr<std::byte> data;                     // aligned to 64 where it is ours
  std::shared_ptr<const std::vector<RunValue>> items;  // of a sequence

  bool is_tensor() const { return kind == Kind::tensor; }
  size_t bytes() const { return bytes_of(dtype, static_cast<size_t>(element_count(shape))); }

  // Nothing, with the room of its shape kept for the next value.
  void clear() {
    kind = Kind::nothing;
    data.reset();
    items.reset();
  }

  // Memory of someone else, who keeps it until the run is over.
  static RunValue borrow(DType dtype, Shape shape, const void* data);
  void set_borrowed(DType dtype, const Shape& shape, const void* data);
  static RunValue sequence(DType dtype, std::vector<RunValue> items);
};

// A tensor with new memory. Fails for shapes that are open, for strings, and for more than the
// machine has.
Result<RunValue> new_tensor(DType dtype, Shape shape);
// The same in a value that is there, whose shape has room already.
Status make_tensor(DType dtype, const Shape& shape, RunValue& value);
// The one element of an integer or boolean tensor; `what` begins the message.
Result<int64_t> read_scalar(const RunValue& value, const std::string& what);

// Part `index` of `count` equal parts along `axis`, without the axis.
Result<RunValue> slice_of(const RunValue& tensor, int64_t axis, int64_t index);
// Elements [begin, begin + length) along `axis`.
Result<RunValue> piece_of(const RunValue& tensor, int64_t axis, int64_t begin, int64_t length);
// Tensors of one type side by side along `axis`; `fresh_axis`: the axis is new.
Result<RunValue> join_tensors(std::span<const RunValue> parts, int64_t axis, bool fresh_axis);

}  // namespace anynpu::exec
