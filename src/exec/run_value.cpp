// SPDX-License-Identifier: Apache-2.0
#include "exec/run_value.h"

#include <algorithm>
#include <cstring>

#include "base/spare_pool.h"
#include "exec/block_pool.h"
#include "exec/count_in_block.h"
#include "exec/memory.h"

namespace anynpu::exec {

namespace {

// A tensor as `outer` rows of `extent` parts of `inner` elements along an axis.
struct AxisView {
  int64_t outer = 1, extent = 1, inner = 1;
};

Result<AxisView> view_along(const RunValue& tensor, int64_t axis) {
  const bool movable =
      bits_of(tensor.dtype) > 0 && (bits_of(tensor.dtype) % 8 == 0 || bits_of(tensor.dtype) == 4);
  if (!tensor.is_tensor() || !movable) {
    return fail(Code::unsupported_dtype, "a value of type {} cannot be cut or joined",
                name_of(tensor.dtype));
  }
  const auto rank = static_cast<int64_t>(tensor.shape.size());
  if (axis < 0 || axis >= rank) {
    return fail(Code::invalid_argument, "axis {} of a tensor of shape {}", axis,
                to_string(tensor.shape));
  }
  AxisView view;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t extent = tensor.shape[static_cast<size_t>(i)];
    if (i < axis) view.outer *= extent;
    if (i == axis) view.extent = extent;
    if (i > axis) view.inner *= extent;
  }
  return view;
}

// Elements from one tensor to another of its type, each from a place on. Two of 4 bits share a
// byte, the first in its low half. The first clears the second, since the memory may be new: places
// of `to` are written in order.
void copy_elements(const RunValue& from, int64_t source, RunValue& to, int64_t place,
                   int64_t count) {
  if (count == 0) return;
  if (bits_of(from.dtype) != 4) {
    const size_t size = size_of(from.dtype);
    std::memcpy(to.data.get() + static_cast<size_t>(place) * size,
                from.data.get() + static_cast<size_t>(source) * size,
                static_cast<size_t>(count) * size);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const std::byte pair = from.data.get()[(source + i) / 2];
    const std::byte half = (source + i) % 2 == 0 ? pair & std::byte{15} : pair >> 4;
    std::byte& target = to.data.get()[(place + i) / 2];
    target = (place + i) % 2 == 0 ? half : (target & std::byte{15}) | half << 4;
  }
}

// More values than this are not kept: a long loop is over at some time.
constexpr size_t kMostKept = 4096;

struct ItemsBlock {
  alignas(8) std::byte owners[kOwnersBytes];
  RunItems items;
  static void give_back(ItemsBlock* block);
};

SparePool<ItemsBlock, 64>& spare_items() {
  static auto* made = new SparePool<ItemsBlock, 64>;  // as the lists of block_pool.cpp
  return *made;
}

void ItemsBlock::give_back(ItemsBlock* block) {
  block->items.clear();
  spare_items().give(std::unique_ptr<ItemsBlock>(block));
}

// Whether `part` has the type of `first` and its extents but along `axis`.
bool fits_beside(const RunValue& part, const RunValue& first, int64_t axis) {
  if (!part.is_tensor() || part.dtype != first.dtype || part.shape.size() != first.shape.size())
    return false;
  for (size_t i = 0; i < part.shape.size(); ++i) {
    if (static_cast<int64_t>(i) != axis && part.shape[i] != first.shape[i]) return false;
  }
  return true;
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
  // No owner: only the pointer.
  data = std::shared_ptr<std::byte>(std::shared_ptr<void>{},
                                    static_cast<std::byte*>(const_cast<void*>(memory)));
  items.reset();
}

void RunValue::set_sequence(DType type, std::shared_ptr<const RunItems> elements) {
  kind = Kind::sequence;
  dtype = type;
  data.reset();
  items = std::move(elements);
}

RunValue& RunItems::add() {
  if (size_ == values_.size()) values_.emplace_back();
  return values_[size_++];
}

void RunItems::reverse() {
  std::reverse(values_.begin(), values_.begin() + static_cast<ptrdiff_t>(size_));
}

void RunItems::clear() {
  for (size_t i = 0; i < size_; ++i) values_[i].clear();
  size_ = 0;
  if (values_.size() > kMostKept) values_ = {};
}

std::shared_ptr<RunItems> take_items() {
  auto block = spare_items().take();
  if (!block) block = std::make_unique<ItemsBlock>();
  ItemsBlock* const owned = block.release();
  return own_in_block(owned, &owned->items);
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

Result<int64_t> read_integer(const RunValue& value, int64_t index, const graph::Node& node,
                             std::string_view what) {
  if (value.is_tensor() && index < element_count(value.shape)) {
    const std::byte* at = value.data.get() + static_cast<size_t>(index) * size_of(value.dtype);
    if (value.dtype == DType::boolean) return static_cast<int64_t>(*at != std::byte{0});
    if (value.dtype == DType::i64) {
      int64_t number;
      std::memcpy(&number, at, sizeof number);
      return number;
    }
    if (value.dtype == DType::i32) {
      int32_t number;
      std::memcpy(&number, at, sizeof number);
      return int64_t{number};
    }
  }
  return fail(Code::shape_mismatch,
              "{} '{}': {} has shape {} and type {}; expected integers or booleans", node.op,
              node.name, what, to_string(value.shape), name_of(value.dtype));
}

Result<int64_t> read_scalar(const RunValue& value, const graph::Node& node, std::string_view what) {
  if (value.is_tensor() && element_count(value.shape) == 1) {
    return read_integer(value, 0, node, what);
  }
  return fail(Code::shape_mismatch,
              "{} '{}': {} has shape {} and type {}; expected one integer or boolean", node.op,
              node.name, what, to_string(value.shape), name_of(value.dtype));
}

Status piece_of(const RunValue& tensor, int64_t axis, int64_t begin, int64_t length,
                RunValue& out) {
  ANYNPU_ASSIGN(const AxisView view, view_along(tensor, axis));
  if (begin < 0 || length < 0 || begin > view.extent - length) {
    return fail(Code::invalid_argument, "elements {} to {} of axis {} of a tensor of shape {}",
                begin, begin + length, axis, to_string(tensor.shape));
  }
  out.shape = tensor.shape;
  out.shape[static_cast<size_t>(axis)] = length;
  ANYNPU_TRY(make_tensor(tensor.dtype, out.shape, out));
  const int64_t row = length * view.inner;
  for (int64_t o = 0; o < view.outer && row > 0; ++o) {
    copy_elements(tensor, (o * view.extent + begin) * view.inner, out, o * row, row);
  }
  return {};
}

Status slice_of(const RunValue& tensor, int64_t axis, int64_t index, RunValue& out) {
  if (axis == 0 && !tensor.shape.empty() && index >= 0 && index < tensor.shape[0] &&
      bits_of(tensor.dtype) % 8 == 0) {
    out = tensor;  // a view: rows lie one behind the other
    out.shape.erase(out.shape.begin());
    out.data = std::shared_ptr<std::byte>(
        tensor.data, tensor.data.get() + static_cast<size_t>(index) * out.bytes());
    return {};
  }
  ANYNPU_TRY(piece_of(tensor, axis, index, 1, out));
  out.shape.erase(out.shape.begin() + axis);
  return {};
}

Status join_tensors(std::span<const RunValue> parts, int64_t axis, bool fresh_axis, RunValue& out) {
  if (parts.empty()) return fail(Code::invalid_argument, "there are no tensors to join");
  const RunValue& first = parts[0];
  const auto rank = static_cast<int64_t>(first.shape.size()) + (fresh_axis ? 1 : 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) {
    return fail(Code::invalid_argument, "axis {} for tensors of shape {}", axis,
                to_string(first.shape));
  }
  const auto at = static_cast<size_t>(axis);
  const auto extent_of = [&](const RunValue& part) { return fresh_axis ? 1 : part.shape[at]; };
  int64_t total = 0;
  for (const RunValue& part : parts) {
    if (!fits_beside(part, first, fresh_axis ? -1 : axis)) {
      return fail(Code::shape_mismatch,
                  "tensors of {} {} and {} {} cannot be joined along axis {}; expected the same "
                  "elsewhere",
                  name_of(first.dtype), to_string(first.shape), name_of(part.dtype),
                  to_string(part.shape), axis);
    }
    total += extent_of(part);
  }
  out.shape = first.shape;
  if (fresh_axis) {
    out.shape.insert(out.shape.begin() + axis, total);
  } else {
    out.shape[at] = total;
  }
  ANYNPU_TRY(make_tensor(first.dtype, out.shape, out));
  ANYNPU_ASSIGN(const AxisView whole, view_along(out, axis));
  const int64_t outer = element_count(out.shape) > 0 ? whole.outer : 0;
  int64_t place = 0;  // rows in order: see copy_elements
  for (int64_t o = 0; o < outer; ++o) {
    for (const RunValue& part : parts) {
      const int64_t row = extent_of(part) * whole.inner;
      copy_elements(part, o * row, out, place, row);
      place += row;
    }
  }
  return {};
}

}  // namespace anynpu::exec
