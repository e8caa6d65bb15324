// SPDX-License-Identifier: Apache-2.0
// aclmdlDesc: names, types, formats, dims and sizes of a model's inputs and outputs.
#include "api/acl/model_desc.h"

#include <cstring>

#include "api/acl/object_calls.h"
#include "service/model/model_desc.h"

namespace anynpu::acl {

using service::DescribedTensor;
using service::ModelDesc;
using service::TensorSide;

static_assert(service::kLongestTensorName + 1 == ACL_MAX_TENSOR_NAME_LEN);
static_assert(service::kOriginalNamesAttribute == ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES);

Status check_dim_count(const std::string& name, const Shape& shape) {
  if (shape.size() <= ACL_MAX_DIM_CNT) return {};
  return fail(Code::unsupported_shape, "'{}' has {} dims; expected at most {}", name, shape.size(),
              ACL_MAX_DIM_CNT);
}

Status to_io_dims(const std::string& name, const Shape& shape, aclmdlIODims* dims) {
  ANYNPU_TRY(check_dim_count(name, shape));
  std::memset(dims, 0, sizeof *dims);
  std::memcpy(dims->name, name.data(), std::min(name.size(), sizeof dims->name - 1));
  dims->dimCount = shape.size();
  std::copy(shape.begin(), shape.end(), dims->dims);
  return {};
}

namespace {

Status fill_dims(const aclmdlDesc* desc, TensorSide side, size_t index, aclmdlIODims* dims) {
  ANYNPU_TRY(check_pointer(dims, "dims"));
  ANYNPU_ASSIGN(const DescribedTensor tensor, service::find_tensor(to_handle(desc), side, index));
  return to_io_dims(tensor.short_name(), tensor.info->shape, dims);
}

// Guide 7.7.1 gives the name of the constant where its text is meant.
const char* spelled_out(const char* name) {
  if (!check_pointer(name, "name").ok()) return name;
  const std::string_view text = name;
  if (text == "ACL_DYNAMIC_AIPP_NAME") return ACL_DYNAMIC_AIPP_NAME;
  if (text == "ACL_DYNAMIC_TENSOR_NAME") return ACL_DYNAMIC_TENSOR_NAME;
  return name;
}

Status find_index(const aclmdlDesc* desc, TensorSide side, const char* name, size_t* index) {
  ANYNPU_TRY(check_pointer(name, "name"));
  ANYNPU_TRY(check_pointer(index, "index"));
  ANYNPU_ASSIGN(auto found, resolve<ModelDesc>(to_handle(desc)));
  ANYNPU_ASSIGN(*index, found->index_of(side, name));
  return {};
}

size_t count_of(const char* function, const aclmdlDesc* desc, TensorSide side) {
  return enter_value(function, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(auto found, resolve<ModelDesc>(to_handle(desc)));
    return found->count(side);
  });
}

// One field of a tensor; `failed` when there is no such tensor.
template <typename T, typename Read>
T read_tensor(const char* function, const aclmdlDesc* desc, TensorSide side, size_t index, T failed,
              Read read) {
  return enter_value(function, failed, [&]() -> Result<T> {
    ANYNPU_ASSIGN(const auto tensor, service::find_tensor(to_handle(desc), side, index));
    return read(*tensor.info);
  });
}

const char* name_by_index(const char* function, const aclmdlDesc* desc, TensorSide side,
                          size_t index) {
  return read_tensor(function, desc, side, index, static_cast<const char*>(""),
                     [](const om::TensorInfo& info) { return info.name.c_str(); });
}

size_t size_by_index(const char* function, const aclmdlDesc* desc, TensorSide side, size_t index) {
  return read_tensor(function, desc, side, index, size_t{0},
                     [](const om::TensorInfo& info) { return size_t{info.size}; });
}

aclFormat format_by_index(const char* function, const aclmdlDesc* desc, TensorSide side,
                          size_t index) {
  return read_tensor(function, desc, side, index, ACL_FORMAT_UNDEFINED,
                     [](const auto& info) { return static_cast<aclFormat>(info.format); });
}

aclDataType type_by_index(const char* function, const aclmdlDesc* desc, TensorSide side,
                          size_t index) {
  return read_tensor(function, desc, side, index, ACL_DT_UNDEFINED,
                     [](const auto& info) { return static_cast<aclDataType>(info.dtype); });
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclmdlDesc* aclmdlCreateDesc(void) { return create<aclmdlDesc*, ModelDesc>(__func__); }

aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) {
  return destroy<ModelDesc>(__func__, modelDesc);
}

aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto desc, resolve<ModelDesc>(to_handle(modelDesc)));
    return desc->fill(modelId);
  });
}

aclError aclmdlGetDescFromFile(aclmdlDesc* modelDesc, const char* modelPath) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelPath, "modelPath"));
    ANYNPU_ASSIGN(auto desc, resolve<ModelDesc>(to_handle(modelDesc)));
    return desc->fill_from_file(modelPath);
  });
}

aclError aclmdlGetDescFromMem(aclmdlDesc* modelDesc, const void* model, size_t modelSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto desc, resolve<ModelDesc>(to_handle(modelDesc)));
    return desc->fill_from_memory(model, modelSize);
  });
}

size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc) {
  return count_of(__func__, modelDesc, TensorSide::input);
}

size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc) {
  return count_of(__func__, modelDesc, TensorSide::output);
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return size_by_index(__func__, modelDesc, TensorSide::input, index);
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return size_by_index(__func__, modelDesc, TensorSide::output, index);
}

const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return name_by_index(__func__, modelDesc, TensorSide::input, index);
}

const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return name_by_index(__func__, modelDesc, TensorSide::output, index);
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return enter(__func__,
               [&] { return find_index(modelDesc, TensorSide::input, spelled_out(name), index); });
}

aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return enter(__func__, [&] { return find_index(modelDesc, TensorSide::output, name, index); });
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return format_by_index(__func__, modelDesc, TensorSide::input, index);
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return format_by_index(__func__, modelDesc, TensorSide::output, index);
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return type_by_index(__func__, modelDesc, TensorSide::input, index);
}

aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return type_by_index(__func__, modelDesc, TensorSide::output, index);
}

aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return enter(__func__, [&] { return fill_dims(modelDesc, TensorSide::input, index, dims); });
}

aclError aclmdlGetInputDimsV2(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return enter(__func__, [&] { return fill_dims(modelDesc, TensorSide::input, index, dims); });
}

aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return enter(__func__, [&] { return fill_dims(modelDesc, TensorSide::output, index, dims); });
}

const char* aclmdlGetOpAttr(aclmdlDesc* modelDesc, const char* opName, const char* attr) {
  return enter_value(__func__, "", [&]() -> Result<const char*> {
    ANYNPU_TRY(check_pointer(opName, "opName"));
    ANYNPU_TRY(check_pointer(attr, "attr"));
    ANYNPU_ASSIGN(auto desc, resolve<ModelDesc>(to_handle(modelDesc)));
    return desc->op_attribute(opName, attr);
  });
}

const char* aclmdlGetTensorRealName(const aclmdlDesc* modelDesc, const char* name) {
  return enter_value(__func__, static_cast<const char*>(nullptr), [&]() -> Result<const char*> {
    ANYNPU_TRY(check_pointer(name, "name"));
    ANYNPU_ASSIGN(auto desc, resolve<ModelDesc>(to_handle(modelDesc)));
    return desc->real_name(name);
  });
}

}  // extern "C"
