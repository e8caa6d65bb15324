// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/objects.h"

#include <algorithm>
#include <new>

#include "base/align.h"
#include "service/check_pointer.h"

namespace anynpu::service {

namespace {

constexpr uint64_t kMostItems = 1 << 20;

template <typename T>
Result<Handle> insert(std::shared_ptr<T> object) {
  const Handle handle = HandleTable::instance().insert(std::move(object));
  if (handle) return handle;
  return fail(Code::out_of_handles, "no handle is free; destroy objects that are no longer used");
}

Status check_items(const void* values, uint64_t count, uint64_t most, const char* what) {
  if (count > most) {
    return fail(Code::invalid_argument, "{} has {} items; expected at most {}", what, count, most);
  }
  return count == 0 ? Status() : check_pointer(values, what);
}

template <typename Object, typename T>
Result<Handle> create_array(const T* values, uint64_t count) {
  ANYNPU_TRY(check_items(values, count, kMostItems, "value"));
  auto object = std::make_shared<Object>();
  object->values.assign(values, values + count);
  return insert(std::move(object));
}

template <typename List, typename Item>
Result<Handle> create_list(const void* const* handles, uint64_t count) {
  ANYNPU_TRY(check_items(handles, count, kMostItems, "value"));
  auto list = std::make_shared<List>();
  for (uint64_t i = 0; i < count; ++i) {
    const auto handle = reinterpret_cast<Handle>(handles[i]);
    list->handles.push_back(handle);
    list->items.emplace_back();
    if (handle == 0) continue;
    ANYNPU_ASSIGN(auto pin, resolve<Item>(handle), "item {} of the list", i);
    list->items.back() = pin.share();
  }
  return insert(std::move(list));
}

template <typename List, typename Item>
Status destroy_list(Handle handle) {
  if (handle == 0) return {};
  const auto list = HandleTable::instance().remove<List>(handle);
  if (!list) return HandleTable::instance().explain(handle, HandleType<List>::tag);
  // One that the program ended before is not there any more.
  for (Handle item : list->handles) {
    if (item) (void)HandleTable::instance().remove<Item>(item);
  }
  return {};
}

}  // namespace

Result<aclnn::TensorView> make_view(const ViewRequest& request) {
  using aclnn::Dims;
  ANYNPU_TRY(check_items(request.dims, request.dim_count, Dims::kMost, "viewDims"));
  ANYNPU_TRY(
      check_items(request.storage_dims, request.storage_dim_count, Dims::kMost, "storageDims"));
  aclnn::TensorView view;
  view.dtype = static_cast<DType>(request.dtype);
  view.format = static_cast<Format>(request.format);
  view.offset = request.offset;
  view.data = request.data;
  const std::span dims(request.dims, request.dim_count);
  view.set_contiguous(dims);
  if (request.strides && request.dim_count > 0) {
    ANYNPU_TRY(check_pointer(request.strides, "stride"));
    view.strides = Dims({request.strides, request.dim_count});
  }
  view.storage_shape = Dims({request.storage_dims, request.storage_dim_count});
  ANYNPU_TRY(aclnn::check(view));
  int64_t stored = 1;
  for (int64_t extent : view.storage_shape) {
    if (extent < 0 || extent > (int64_t{1} << 48) / std::max<int64_t>(stored, 1)) {
      return fail(Code::invalid_argument, "storageDims are {}; expected extents from 0 up",
                  view.storage_shape.shape());
    }
    stored *= extent;
  }
  const auto span = view.span();
  if (!view.storage_shape.empty() && span.count > 0 && span.first + span.count > stored) {
    return fail(Code::invalid_argument,
                "a view of {} from offset {} reaches element {} of a storage of {}; offset and "
                "strides must stay inside it",
                aclnn::to_string(view), view.offset, span.first + span.count - 1, stored);
  }
  return view;
}

Result<Handle> create_nn_tensor(const ViewRequest& request) {
  ANYNPU_ASSIGN(aclnn::TensorView view, make_view(request));
  auto tensor = std::make_shared<NnTensor>();
  tensor->view = view;
  return insert(std::move(tensor));
}

Result<Handle> create_nn_scalar(const void* value, int32_t dtype) {
  ANYNPU_TRY(check_pointer(value, "value"));
  auto scalar = std::make_shared<NnScalar>();
  ANYNPU_ASSIGN(scalar->value, aclnn::make_scalar(value, static_cast<DType>(dtype)));
  return insert(std::move(scalar));
}

Result<Handle> create_nn_ints(const int64_t* values, uint64_t count) {
  return create_array<NnInts>(values, count);
}
Result<Handle> create_nn_floats(const float* values, uint64_t count) {
  return create_array<NnFloats>(values, count);
}
Result<Handle> create_nn_bools(const bool* values, uint64_t count) {
  return create_array<NnBools>(values, count);
}
Result<Handle> create_nn_tensors(const void* const* handles, uint64_t count) {
  return create_list<NnTensors, NnTensor>(handles, count);
}
Result<Handle> create_nn_scalars(const void* const* handles, uint64_t count) {
  return create_list<NnScalars, NnScalar>(handles, count);
}

template <>
Status destroy_nn_object<NnTensors>(Handle handle) {
  return destroy_list<NnTensors, NnTensor>(handle);
}
template <>
Status destroy_nn_object<NnScalars>(Handle handle) {
  return destroy_list<NnScalars, NnScalar>(handle);
}

Status copy_dims(const aclnn::Dims& dims, const DimsCopy& to) {
  ANYNPU_TRY(check_pointer(to.values, "the array"));
  ANYNPU_TRY(check_pointer(to.count, "the number of axes"));
  auto* copy = new (std::nothrow) int64_t[dims.size() + 1];
  if (!copy) return fail(Code::host_out_of_memory, "no memory for {} extents", dims.size());
  std::copy(dims.begin(), dims.end(), copy);
  *to.values = copy;
  *to.count = dims.size();
  return {};
}

Result<uint64_t> matmul_weight_size(std::span<const int64_t> shape) {
  constexpr int64_t kBlock = 16, kMost = int64_t{1} << 48;
  if (shape.size() < 2 || shape.size() > 6) {
    return fail(Code::invalid_argument, "a weight has {} axes; expected 2 to 6", shape.size());
  }
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t extent =
        i + 2 < shape.size() ? shape[i] : round_up(std::max<int64_t>(shape[i], 0), kBlock);
    if (shape[i] < 0 || (extent > 0 && count > kMost / extent)) {
      return fail(Code::invalid_argument,
                  "extent {} of a weight is {}; expected 0 or more, and up to {} "
                  "elements in all",
                  i, shape[i], kMost);
    }
    count *= extent;
  }
  return static_cast<uint64_t>(count);
}

}  // namespace anynpu::service
