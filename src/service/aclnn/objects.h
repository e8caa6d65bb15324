// SPDX-License-Identifier: Apache-2.0
// The objects of aclnn behind handles: tensors, scalars, arrays and lists. A list owns its items:
// they and their handles end with it. Creating and destroying are thread-safe; one thread at a time
// changes an object.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aclnn/tensor_view.h"
#include "base/handle_table.h"

namespace anynpu::service {

struct NnTensor {
  aclnn::TensorView view;
};
struct NnScalar {
  aclnn::Scalar value;
};
struct NnInts {
  std::vector<int64_t> values;
};
struct NnFloats {
  std::vector<float> values;
};
struct NnBools {
  std::vector<uint8_t> values;
};
// Items may be null where a tensor is left out.
struct NnTensors {
  std::vector<std::shared_ptr<NnTensor>> items;
  std::vector<Handle> handles;
};
struct NnScalars {
  std::vector<std::shared_ptr<NnScalar>> items;
  std::vector<Handle> handles;
};

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::NnTensor, nn_tensor);
ANYNPU_HANDLE_TYPE(service::NnScalar, nn_scalar);
ANYNPU_HANDLE_TYPE(service::NnInts, nn_ints);
ANYNPU_HANDLE_TYPE(service::NnFloats, nn_floats);
ANYNPU_HANDLE_TYPE(service::NnBools, nn_bools);
ANYNPU_HANDLE_TYPE(service::NnTensors, nn_tensors);
ANYNPU_HANDLE_TYPE(service::NnScalars, nn_scalars);
}  // namespace anynpu

namespace anynpu::service {

// A view as a program states it. Null strides: contiguous.
struct ViewRequest {
  const int64_t* dims = nullptr;
  uint64_t dim_count = 0;
  int32_t dtype = 0;
  const int64_t* strides = nullptr;
  int64_t offset = 0;
  int32_t format = 0;
  const int64_t* storage_dims = nullptr;
  uint64_t storage_dim_count = 0;
  void* data = nullptr;
};
// Checked against the storage if its size is known.
Result<aclnn::TensorView> make_view(const ViewRequest& request);

Result<Handle> create_nn_tensor(const ViewRequest& request);
Result<Handle> create_nn_scalar(const void* value, int32_t dtype);
Result<Handle> create_nn_ints(const int64_t* values, uint64_t count);
Result<Handle> create_nn_floats(const float* values, uint64_t count);
Result<Handle> create_nn_bools(const bool* values, uint64_t count);
Result<Handle> create_nn_tensors(const void* const* handles, uint64_t count);
Result<Handle> create_nn_scalars(const void* const* handles, uint64_t count);

// Destroys an object and, for a list, its items. Null is allowed, for optional arguments.
template <typename T>
Status destroy_nn_object(Handle handle) {
  if (handle == 0 || HandleTable::instance().remove<T>(handle)) return {};
  return HandleTable::instance().explain(handle, HandleType<T>::tag);
}
template <>
Status destroy_nn_object<NnTensors>(Handle handle);
template <>
Status destroy_nn_object<NnScalars>(Handle handle);

// Elements of a weight in blocks of 16 x 16: what a program reserves before aclnnTransMatmulWeight.
Result<uint64_t> matmul_weight_size(std::span<const int64_t> shape);

// An array of int64 that the program frees with delete[].
struct DimsCopy {
  int64_t** values;
  uint64_t* count;
};
Status copy_dims(const aclnn::Dims& dims, const DimsCopy& to);

}  // namespace anynpu::service
