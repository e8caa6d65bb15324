// SPDX-License-Identifier: Apache-2.0
// TensorDesc: type, shape and layout of a tensor, without its data. What single operators and
// dynamic-shape datasets are described with. Plain data: one thread at a time changes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/handle_table.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu {

// The shape {-2} stands for an unknown rank.
constexpr int64_t kUnknownRank = -2;
constexpr size_t kMaxDims = 128;

enum class Placement : int32_t { device = 0, host = 1, host_compile_independent = 2 };

using Range = std::pair<int64_t, int64_t>;  // an upper end of -1 is unbounded

struct TensorDesc {
  DType dtype = DType::undefined;
  Format format = Format::undefined;
  Shape shape;
  std::vector<Range> shape_ranges;  // empty, or one per dimension
  std::vector<Range> value_ranges;
  std::string name;
  std::string dynamic_input;
  // Format and shape in memory, if they differ from the original ones above.
  Format storage_format = Format::undefined;
  Shape storage_shape;
  Placement placement = Placement::device;
  std::vector<std::byte> constant;  // the value, when it is known before the operator is compiled
  bool is_constant = false;
  void* address = nullptr;  // of the data, for descriptions made by the library
  std::vector<std::shared_ptr<TensorDesc>> list;  // a description may hold several
  std::vector<Handle> list_handles;               // handed out for `list`, on demand

  bool unknown_rank() const { return shape.size() == 1 && shape[0] == kUnknownRank; }
  // Elements and bytes; 0 while any extent is unknown.
  size_t element_count() const;
  size_t byte_count() const;
  // The range of one dimension: what was set, else the extent itself, [0, -1] for a dynamic one.
  Range range_of(size_t index) const;

  ~TensorDesc();
};

ANYNPU_HANDLE_TYPE(TensorDesc, tensor_desc);

// Known data types and formats; everything else is refused by name.
Status check_dtype(int32_t dtype);
Status check_format(int32_t format);
// Extents of 0 or more, -1, or the single -2; at most kMaxDims and 2^62 elements.
Status check_desc_shape(const Shape& shape);
Status check_ranges(const std::vector<Range>& ranges);

}  // namespace anynpu
