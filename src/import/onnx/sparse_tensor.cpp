// SPDX-License-Identifier: Apache-2.0
// SparseTensorProto: elements and their indices, in a tensor of zeros.
#include <cstring>

#include "import/onnx/tensor_proto.h"

namespace anynpu::onnx {

namespace {

constexpr int64_t kMostDenseBytes = int64_t{256} << 20;

struct SparseParts {
  Tensor values, indices;
  Shape dims;
};

Result<SparseParts> read_sparse_parts(const WireField& message, Source& source) {
  SparseParts parts;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) {
      ANYNPU_ASSIGN(parts.values, read_tensor(field, source));
    } else if (field.number == 2) {
      ANYNPU_ASSIGN(parts.indices, read_tensor(field, source));
    } else if (field.number == 3) {
      ANYNPU_TRY(field.append_to(parts.dims));
    }
  }
  ANYNPU_TRY(reader.status());
  return parts;
}

// The dense tensor has a size that can be had, and the indices fit the values.
Status check_sparse(const SparseParts& parts, const Source& source) {
  const Tensor &values = parts.values, &indices = parts.indices;
  const auto bad = [&](std::string_view what) {
    return fail(Code::corrupt_model,
                "sparse tensor '{}' of {}: {}; save the model again, or with dense weights",
                values.name, to_string(parts.dims), what);
  };
  if (!values.data || bits_of(values.dtype) % 8 != 0 || values.dtype == DType::string)
    return bad("its values are missing, strings or parts of a byte");
  for (int64_t extent : parts.dims) {
    if (extent < 0) return bad("it has a negative extent");
  }
  ANYNPU_TRY(check_shape(parts.dims), "in sparse tensor '{}'", values.name);
  const int64_t left = kMostDenseBytes - source.dense_bytes;
  if (element_count(parts.dims) > left / static_cast<int64_t>(size_of(values.dtype)))
    return bad("the dense forms of the model take more than 256 MiB");
  const int64_t count = element_count(values.shape);
  const auto rank = static_cast<int64_t>(parts.dims.size());
  if (values.shape.size() != 1) return bad("its values are no list");
  if (count == 0) return {};
  if (!indices.data || indices.dtype != DType::i64 ||
      (indices.shape != Shape{count} && indices.shape != Shape{count, rank}))
    return bad("its indices are not one of int64 for each value, or one for each axis");
  return {};
}

// The offset of element `at` in the dense tensor; -1 when its indices are out of range.
int64_t offset_of(const SparseParts& parts, size_t at) {
  const std::byte* data = parts.indices.data->bytes.data();
  const auto index = [&](size_t i) {
    int64_t value = 0;
    std::memcpy(&value, data + i * sizeof(value), sizeof(value));
    return value;
  };
  if (parts.indices.shape.size() == 1) {
    const int64_t offset = index(at);
    return offset >= 0 && offset < element_count(parts.dims) ? offset : -1;
  }
  int64_t offset = 0;
  for (size_t axis = 0; axis < parts.dims.size(); ++axis) {
    const int64_t here = index(at * parts.dims.size() + axis);
    if (here < 0 || here >= parts.dims[axis]) return -1;
    offset = offset * parts.dims[axis] + here;
  }
  return offset;
}

}  // namespace

Result<Tensor> read_sparse_tensor(const WireField& field, Source& source) {
  ANYNPU_ASSIGN(SparseParts parts, read_sparse_parts(field, source),
                "in a sparse tensor of the model");
  ANYNPU_TRY(check_sparse(parts, source));
  const size_t size = size_of(parts.values.dtype);
  std::vector<std::byte> dense(static_cast<size_t>(element_count(parts.dims)) * size);
  source.dense_bytes += static_cast<int64_t>(dense.size());
  const auto count = static_cast<size_t>(element_count(parts.values.shape));
  for (size_t i = 0; i < count; ++i) {
    const int64_t offset = offset_of(parts, i);
    if (offset < 0) {
      return fail(Code::corrupt_model,
                  "sparse tensor '{}' of {}: value {} of {} stands outside; save the model again",
                  parts.values.name, to_string(parts.dims), i, count);
    }
    std::memcpy(dense.data() + static_cast<size_t>(offset) * size,
                parts.values.data->bytes.data() + i * size, size);
  }
  return Tensor{std::move(parts.values.name), parts.values.dtype, std::move(parts.dims),
                copy_constant(dense)};
}

}  // namespace anynpu::onnx
