// SPDX-License-Identifier: Apache-2.0
// RunValue: what a value of a graph is during a run of a StepProgram: a tensor whose shape is
// known now, a sequence of such, or nothing (an operand left out, an empty optional). Cheap to
// copy: copies share the data, which nobody changes once it was handed on.
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

  // Nothing, with the room of its shape kept for the next value.
  void clear() {
    kind = Kind::nothing;
    data.reset();
    items.reset();
  }

  // Memory of someone else, who keeps it until the run is over.
  static RunValue borrow(DType dtype, Shape shape, const void* data);
  void set_borrowed(DType dtype, const Shape& shape, const void* data);
  void set_sequence(DType dtype, std::shared_ptr<const RunItems> items);
};

// Values in a row: the elements of a sequence, or what the iterations of a loop made. Cleared, it
// keeps the room of its values for the next ones.
class RunItems {
 public:
  size_t size() const { return size_; }
  const RunValue& operator[](size_t index) const { return room_[index]; }
  std::span<const RunValue> values() const { return {room_.data(), size_}; }

  // One more at the end, to be assigned to or swapped with.
  RunValue& add();
  void reverse();
  void clear();

 private:
  std::vector<RunValue> room_;
  size_t size_ = 0;
};

// Empty; goes back to a pool when its last owner lets go.
std::shared_ptr<RunItems> take_items();

// A tensor with new memory, in a value whose shape may have room already. Fails for shapes that are
// open, for strings, and for more than the machine has.
Status make_tensor(DType dtype, const Shape& shape, RunValue& value);

// Element `index` of an integer or boolean tensor; `what` it is to the node begins the message.
Result<int64_t> read_integer(const RunValue& value, int64_t index, const graph::Node& node,
                             std::string_view what);
// The one element of such a tensor.
Result<int64_t> read_scalar(const RunValue& value, const graph::Node& node, std::string_view what);

// The functions below write to `out`, which is none of the values they read.

// Part `index` along `axis`, without the axis.
Status slice_of(const RunValue& tensor, int64_t axis, int64_t index, RunValue& out);
// Elements [begin, begin + length) along `axis`.
Status piece_of(const RunValue& tensor, int64_t axis, int64_t begin, int64_t length, RunValue& out);
// Tensors of one type side by side along `axis`; `fresh_axis`: the axis is new.
Status join_tensors(std::span<const RunValue> parts, int64_t axis, bool fresh_axis, RunValue& out);

}  // namespace anynpu::exec
