// SPDX-License-Identifier: Apache-2.0
// Queries about the objects of aclnn, and changes of tensors.
#include "api/acl_nn/entry.h"
#include "service/aclnn/objects.h"

using namespace anynpu;
using namespace anynpu::acl_nn;

namespace {

using aclnn::TensorView;

// Writes what `read` says of the tensor's view to `to`.
template <typename T, typename Read>
aclnnStatus tell(const char* function, const aclTensor* tensor, T* to, Read&& read) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<service::NnTensor>(to_handle(tensor)));
    ANYNPU_TRY(check_pointer(to, "the result"));
    *to = static_cast<T>(read(pin->view));
    return {};
  });
}

aclnnStatus tell_dims(const char* function, const aclTensor* tensor, aclnn::Dims TensorView::*dims,
                      const service::DimsCopy& to) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<service::NnTensor>(to_handle(tensor)));
    return service::copy_dims(pin->view.*dims, to);
  });
}

template <typename Object, typename Count>
aclnnStatus tell_size(const char* function, const void* object, uint64_t* size, Count&& count) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<Object>(to_handle(object)));
    ANYNPU_TRY(check_pointer(size, "size"));
    *size = count(*pin);
    return {};
  });
}

// Changes the tensor's view.
template <typename Change>
aclnnStatus change(const char* function, aclTensor* tensor, Change&& change) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<service::NnTensor>(to_handle(tensor)));
    return change(pin->view);
  });
}

aclnnStatus tell_weight_size(const char* function, const aclIntArray* shape, uint64_t* size) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<service::NnInts>(to_handle(shape)));
    ANYNPU_TRY(check_pointer(size, "weightTensorSize"));
    ANYNPU_ASSIGN(*size, service::matmul_weight_size(pin->values));
    return {};
  });
}

}  // namespace

extern "C" {

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return tell_dims(__func__, tensor, &TensorView::shape, {viewDims, viewDimsNum});
}
aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  return tell_dims(__func__, tensor, &TensorView::storage_shape, {storageDims, storageDimsNum});
}
aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  return tell_dims(__func__, tensor, &TensorView::strides, {stridesValue, stridesNum});
}
aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return tell(__func__, tensor, offset, [](const TensorView& view) { return view.offset; });
}
aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return tell(__func__, tensor, format, [](const TensorView& view) { return view.format; });
}
aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return tell(__func__, tensor, dataType, [](const TensorView& view) { return view.dtype; });
}
aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return tell_size<service::NnInts>(__func__, array, size,
                                    [](const auto& list) { return list.values.size(); });
}
aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return tell_size<service::NnFloats>(__func__, array, size,
                                      [](const auto& list) { return list.values.size(); });
}
aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return tell_size<service::NnBools>(__func__, array, size,
                                     [](const auto& list) { return list.values.size(); });
}
aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return tell_size<service::NnTensors>(__func__, tensorList, size,
                                       [](const auto& list) { return list.items.size(); });
}
aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return tell_size<service::NnScalars>(__func__, scalarList, size,
                                       [](const auto& list) { return list.items.size(); });
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorDataAddr) {
  return change(__func__, tensor, [&](TensorView& view) -> Status {
    ANYNPU_ASSIGN(view, service::make_view({viewDims, viewDimsNum, dataType, stride, offset, format,
                                            storageDims, storageDimsNum, tensorDataAddr}));
    return {};
  });
}
aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return change(__func__, tensor, [&](TensorView& view) -> Status {
    view.data = addr;
    return {};
  });
}
aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<service::NnTensor>(to_handle(tensor)));
    ANYNPU_TRY(check_pointer(addr, "addr"));
    *addr = pin->view.data;
    return {};
  });
}

aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray* tensorShape,
                                           uint64_t* weightTensorSize) {
  return tell_weight_size(__func__, tensorShape, weightTensorSize);
}
aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,
                                             uint64_t* weightTensorSize) {
  (void)dataType;  // counted in elements
  return tell_weight_size(__func__, tensorShape, weightTensorSize);
}
}  // extern "C"
