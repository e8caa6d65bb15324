// SPDX-License-Identifier: Apache-2.0
// Creating and destroying the objects of aclnn.
#include "service/aclnn/objects.h"

#include "api/acl_nn/entry.h"

using namespace anynpu;
using namespace anynpu::acl_nn;

namespace {

template <typename Object>
aclnnStatus destroy(const char* function, const void* object) {
  return enter(function, [&] { return service::destroy_nn_object<Object>(to_handle(object)); });
}

}  // namespace

extern "C" {

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  return enter_create<aclTensor*>(__func__, [&] {
    return service::create_nn_tensor({viewDims, viewDimsNum, dataType, stride, offset, format,
                                      storageDims, storageDimsNum, tensorData});
  });
}
aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  return enter_create<aclScalar*>(__func__,
                                  [&] { return service::create_nn_scalar(value, dataType); });
}
aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return enter_create<aclIntArray*>(__func__, [&] { return service::create_nn_ints(value, size); });
}
aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return enter_create<aclFloatArray*>(__func__,
                                      [&] { return service::create_nn_floats(value, size); });
}
aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return enter_create<aclBoolArray*>(__func__,
                                     [&] { return service::create_nn_bools(value, size); });
}
aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return enter_create<aclTensorList*>(__func__, [&] {
    return service::create_nn_tensors(reinterpret_cast<const void* const*>(value), size);
  });
}
aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return enter_create<aclScalarList*>(__func__, [&] {
    return service::create_nn_scalars(reinterpret_cast<const void* const*>(value), size);
  });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return destroy<service::NnTensor>(__func__, tensor);
}
aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return destroy<service::NnScalar>(__func__, scalar);
}
aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return destroy<service::NnInts>(__func__, array);
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return destroy<service::NnFloats>(__func__, array);
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return destroy<service::NnBools>(__func__, array);
}
aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return destroy<service::NnTensors>(__func__, array);
}
aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return destroy<service::NnScalars>(__func__, array);
}

}  // extern "C"
