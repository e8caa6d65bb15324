// SPDX-License-Identifier: Apache-2.0
#include "exec/run_value.h"

#include <cstring>

#include "exec/block_pool.h"
#include "exec/memory.h"

namespace anynpu::exec {

namespace {

// A tensor as `outer` rows of `extent` parts of `inner` bytes along an axis.
struct AxisView {
  int64_t outer = 1, extent = 1;
  size_t inner = 1;
};

Result<AxisView> view_along(const RunValue& tensor, int64_t axis) {
  if (!tensor.is_tensor() || bits_of(tensor.dtype) % 8 != 0 || bits_of(tensor.dtype) == 0) {
    return fail(Code::unsupported_dtype, "a value of type {} cannot be cut or joined",
                name_of(tensor.dtype));
  }
  const auto rank = static_cast<int64_t>(tensor.shape.size());
  if (axis < 0 || axis >= rank) {
    return fail(Code::invalid_argument, "axis {} of a tensor of shape {}", axis,
                to_string(tensor.shape));
  }
  AxisView view;
  view.inner = size_of(tensor.dtype);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t extent = tensor.shape[static_cast<size_t>(i)];
    if (i < axis) view.outer *= extent;
    if (i == axis) view.extent = extent;
    if (i > axis) view.inner *= static_cast<size_t>(extent);
  }
  return view;
}

}  // namespace

RunValue RunValue::borrow(DType dtype, Shape shape, const void* data) {
  RunValue value;
  value.set_borrowed(dtype, shape, data);
  return value;
}

void RunValue::set_borrowed(DType type, const Shape& extents, const void* memory) {
  kind = Kind::tensor;
  dtype = type;
  shape = extents;
  // No owner: the pointer alone.
  data = std::shared_ptr<std::byte>(std::shared_ptr<void>{},
                                    static_cast<std::byte*>(const_cast<void*>(memory)));
  items.reset();
}

RunValue RunValue::sequence(DType dtype, std::vector<RunValue> items) {
  RunValue value;
  value.kind = Kind::sequence;
  value.dtype = dtype;
  value.items = std::make_shared<const std::vector<RunValue>>(std::move(items));
  return value;
}

Result<RunValue> new_tensor(DType dtype, Shape shape) {
  RunValue value;
  ANYNPU_TRY(make_tensor(dtype, shape, value));
  return value;
}

Status make_tensor(DType dtype, const Shape& shape, RunValue& value) {
  ANYNPU_TRY(check_shape(shape));
  const int64_t count = element_count(shape);
  if (count < 0 || bits_of(dtype) == 0) {
    return fail(Code::unsupported_shape, "a tensor of {} and shape {} cannot be made",
                name_of(dtype), to_string(shape));
  }
  const auto most = static_cast<size_t>(machine_bytes());
  if (static_cast<size_t>(count) > most / std::max<size_t>(1, size_of(dtype))) {
    return fail(Code::out_of_memory,
                "a tensor of {} and shape {} is larger than the machine's {} "
                "bytes",
                name_of(dtype), to_string(shape), most);
  }
  const size_t bytes = bytes_of(dtype, static_cast<size_t>(count));
  auto memory = take_block(bytes);
  if (!memory) {
    return fail(Code::out_of_memory, "{} bytes for a tensor of shape {} cannot be allocated", bytes,
                to_string(shape));
  }
  value.kind = RunValue::Kind::tensor;
  value.dtype = dtype;
  if (&value.shape != &shape) value.shape = shape;
  value.data = std::move(memory);
  value.items.reset();
  return {};
}

Result<int64_t> read_scalar(const RunValue& value, const std::string& what) {
  if (value.is_tensor() && element_count(value.shape) == 1) {
    if (value.dtype == DType::boolean) return static_cast<int64_t>(*value.data != std::byte{0});
    if (value.dtype == DType::i64) {
      int64_t number;
      std::memcpy(&number, value.data.get(), sizeof number);
      return number;
    }
    if (value.dtype == DType::i32) {
      int32_t number;
      std::memcpy(&number, value.data.get(), sizeof number);
      return int64_t{number};
    }
  }
  return fail(Code::shape_mismatch, "{} has shape {} and type {}; expected one integer or boolean",
              what, to_string(value.shape), name_of(value.dtype));
}

Result<RunValue> piece_of(const RunValue& tensor, int64_t axis, int64_t begin, int64_t length) {
  ANYNPU_ASSIGN(const AxisView view, view_along(tensor, axis));
  if (begin < 0 || length < 0 || begin > view.extent - length) {
    return fail(Code::invalid_argument, "elements {} to {} of axis {} of a tensor of shape {}",
                begin, begin + length, axis, to_string(tensor.shape));
  }
  Shape shape = tensor.shape;
  shape[static_cast<size_t>(axis)] = length;
  ANYNPU_ASSIGN(RunValue piece, new_tensor(tensor.dtype, std::move(shape)));
  const size_t row = static_cast<size_t>(length) * view.inner;
  for (int64_t o = 0; o < view.outer && row > 0; ++o) {
    std::memcpy(piece.data.get() + static_cast<size_t>(o) * row,
                tensor.data.get() + static_cast<size_t>(o * view.extent + begin) * view.inner, row);
  }
  return piece;
}

Result<RunValue> slice_of(const RunValue& tensor, int64_t axis, int64_t index) {
  RunValue slice;
  if (axis == 0 && !tensor.shape.empty() && index >= 0 && index < tensor.shape[0] &&
      bits_of(tensor.dtype) % 8 == 0) {
    slice = tensor;  // a view: rows lie one behind the other
    slice.shape.erase(slice.shape.begin());
    slice.data = std::shared_ptr<std::byte>(
        tensor.data, tensor.data.get() + static_cast<size_t>(index) * slice.bytes());
    return slice;
  }
  ANYNPU_ASSIGN(slice, piece_of(tensor, axis, index, 1));
  slice.shape.erase(slice.shape.begin() + axis);
  return slice;
}

Result<RunValue> join_tensors(std::span<const RunValue> parts, int64_t axis, bool fresh_axis) {
  std::vector<RunValue> placed(parts.begin(), parts.end());
  if (placed.empty()) return fail(Code::invalid_argument, "there are no tensors to join");
  const auto rank = static_cast<int64_t>(placed[0].shape.size()) + (fresh_axis ? 1 : 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) {
    return fail(Code::invalid_argument, "axis {} for tensors of shape {}", axis,
                to_string(placed[0].shape));
  }
  int64_t total = 0;
  for (RunValue& part : placed) {
    if (fresh_axis && static_cast<int64_t>(part.shape.size()) >= axis)
      part.shape.insert(part.shape.begin() + axis, 1);
    Shape same = part.shape;
    if (same.size() == placed[0].shape.size())
      same[static_cast<size_t>(axis)] = placed[0].shape[static_cast<size_t>(axis)];
    if (!part.is_tensor() || part.dtype != placed[0].dtype || same != placed[0].shape) {
      return fail(Code::shape_mismatch,
                  "tensors of {} {} and {} {} cannot be joined along axis {}; expected the same "
                  "elsewhere",
                  name_of(placed[0].dtype), to_string(placed[0].shape), name_of(part.dtype),
                  to_string(part.shape), axis);
    }
    total += part.shape[static_cast<size_t>(axis)];
  }
  Shape shape = placed[0].shape;
  shape[static_cast<size_t>(axis)] = total;
  ANYNPU_ASSIGN(RunValue joined, new_tensor(placed[0].dtype, std::move(shape)));
  ANYNPU_ASSIGN(const AxisView whole, view_along(joined, axis));
  int64_t at = 0;
  for (const RunValue& part : placed) {
    const int64_t extent = part.shape[static_cast<size_t>(axis)];
    const size_t row = static_cast<size_t>(extent) * whole.inner;
    for (int64_t o = 0; o < whole.outer && row > 0; ++o) {
      std::memcpy(joined.data.get() + static_cast<size_t>(o * whole.extent + at) * whole.inner,
                  part.data.get() + static_cast<size_t>(o) * row, row);
    }
    at += extent;
  }
  return joined;
}

}  // namespace anynpu::exec
