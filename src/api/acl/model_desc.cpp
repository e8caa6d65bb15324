// SPDX-License-Identifier: Apache-2.0
// aclmdlDesc: names, types, formats, dims and sizes of a model's inputs and outputs.
#include "api/acl/model_desc.h"

#include <cstring>
#include <optional>

#include "acl/mdl/desc.h"
#include "api/acl/entry.h"
#include "api/acl/model_load.h"
#include "api/acl/model_objects.h"
#include "api/acl/model_table.h"
#include "base/mapped_file.h"
#include "om/container.h"

namespace anynpu::acl {

Result<DescEntry> find_entry(const aclmdlDesc* desc, TensorSide side, size_t index) {
  ANYNPU_ASSIGN(auto object, resolve<ModelDesc>(to_handle(desc)));
  ANYNPU_ASSIGN(auto meta, object->meta());
  const auto& list = tensors_of(*meta, side);
  if (index >= list.size()) {
    return fail(Code::invalid_argument, "index is {}, the model '{}' has {} {}s; expected less",
                index, meta->name, list.size(), name_of(side));
  }
  return DescEntry{meta, &list[index], object->model_id()};
}

namespace {

// Names that do not fit into aclmdlIODims stand there in this form; aclmdlGetTensorRealName turns
// them back.
std::string short_name(const om::TensorInfo& info, TensorSide side, size_t index,
                       uint32_t model_id) {
  if (info.name.size() < ACL_MAX_TENSOR_NAME_LEN) return info.name;
  return format("acl_modelId_{}_{}_{}", model_id, name_of(side), index);
}

}  // namespace

Status fill_dims(const DescEntry& entry, TensorSide side, size_t index, const Shape& shape,
                 aclmdlIODims* dims) {
  if (shape.size() > ACL_MAX_DIM_CNT) {
    return fail(Code::unsupported_shape, "'{}' has {} dims; expected at most {}", entry.info->name,
                shape.size(), ACL_MAX_DIM_CNT);
  }
  std::memset(dims, 0, sizeof *dims);
  const std::string name = short_name(*entry.info, side, index, entry.model_id);
  std::memcpy(dims->name, name.data(), name.size());
  dims->dimCount = shape.size();
  std::copy(shape.begin(), shape.end(), dims->dims);
  return {};
}

namespace {

Status fill_dims(const aclmdlDesc* desc, TensorSide side, size_t index, aclmdlIODims* dims) {
  ANYNPU_TRY(check_pointer(dims, "dims"));
  ANYNPU_ASSIGN(const DescEntry entry, find_entry(desc, side, index));
  return fill_dims(entry, side, index, entry.info->shape, dims);
}

// Outputs are called "node:index:tensor"; the tensor's name alone is found as well.
bool ends_in(std::string_view full, std::string_view name) {
  return full.size() > name.size() + 1 && full.ends_with(name) &&
         full[full.size() - name.size() - 1] == ':';
}

// Guide 7.7.1 gives the name of the constant where its text is meant.
const char* spelled_out(const char* name) {
  const std::string_view text = name ? name : "";
  if (text == "ACL_DYNAMIC_AIPP_NAME") return ACL_DYNAMIC_AIPP_NAME;
  if (text == "ACL_DYNAMIC_TENSOR_NAME") return ACL_DYNAMIC_TENSOR_NAME;
  return name;
}

Status find_index(const aclmdlDesc* desc, TensorSide side, const char* name, size_t* index) {
  ANYNPU_TRY(check_pointer(name, "name"));
  ANYNPU_TRY(check_pointer(index, "index"));
  ANYNPU_ASSIGN(auto object, resolve<ModelDesc>(to_handle(desc)));
  ANYNPU_ASSIGN(auto meta, object->meta());
  const auto& list = tensors_of(*meta, side);
  std::optional<size_t> whole, part;
  std::string names;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string& full = list[i].name;
    const bool same = full == name || short_name(list[i], side, i, object->model_id()) == name;
    if (same && !whole) whole = i;
    if (ends_in(full, name) && !part) part = i;
    names += (i ? ", " : "") + full;
  }
  if (whole || part) {
    *index = whole ? *whole : *part;
    return {};
  }
  return fail(Code::invalid_argument, "the model '{}' has no {} '{}'; it has: {}", meta->name,
              name_of(side), name, names);
}

const char* name_by_index(const char* function, const aclmdlDesc* desc, TensorSide side,
                          size_t index) {
  return enter_value(function, static_cast<const char*>(""), [&]() -> Result<const char*> {
    ANYNPU_ASSIGN(const DescEntry entry, find_entry(desc, side, index));
    return entry.info->name.c_str();
  });
}

size_t size_by_index(const char* function, const aclmdlDesc* desc, TensorSide side, size_t index) {
  return enter_value(function, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(const DescEntry entry, find_entry(desc, side, index));
    return size_t{entry.info->size};
  });
}

size_t count_of(const char* function, const aclmdlDesc* desc, TensorSide side) {
  return enter_value(function, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(auto object, resolve<ModelDesc>(to_handle(desc)));
    ANYNPU_ASSIGN(auto meta, object->meta());
    return tensors_of(*meta, side).size();
  });
}

aclFormat format_by_index(const char* function, const aclmdlDesc* desc, TensorSide side,
                          size_t index) {
  return enter_value(function, ACL_FORMAT_UNDEFINED, [&]() -> Result<aclFormat> {
    ANYNPU_ASSIGN(const DescEntry entry, find_entry(desc, side, index));
    return static_cast<aclFormat>(entry.info->format);
  });
}

aclDataType type_by_index(const char* function, const aclmdlDesc* desc, TensorSide side,
                          size_t index) {
  return enter_value(function, ACL_DT_UNDEFINED, [&]() -> Result<aclDataType> {
    ANYNPU_ASSIGN(const DescEntry entry, find_entry(desc, side, index));
    return static_cast<aclDataType>(entry.info->dtype);
  });
}

// "[5]conv1[5]relu1": the operators of the source model that `op` stands for.
Result<std::string> op_attribute(const ModelDesc& desc, const std::string& op,
                                 std::string_view attr) {
  if (attr != ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES) {
    return fail(Code::invalid_argument, "the attribute is '{}'; expected {}", attr,
                ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES);
  }
  ANYNPU_ASSIGN(const auto meta, desc.meta());
  for (const auto& [name, sources] : meta->origins) {
    if (name != op) continue;
    std::string text;
    for (const std::string& source : sources) text += format("[{}]{}", source.size(), source);
    return text;
  }
  return fail(Code::invalid_argument, "the model '{}' has no operator '{}'", meta->name, op);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclmdlDesc* aclmdlCreateDesc(void) {
  return enter_value(__func__, static_cast<aclmdlDesc*>(nullptr),
                     [&] { return insert_object<aclmdlDesc*>(std::make_shared<ModelDesc>()); });
}

aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) {
  return enter<When::before_init>(__func__,
                                  [&]() -> Status { return remove_object<ModelDesc>(modelDesc); });
}

aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto desc, resolve<ModelDesc>(to_handle(modelDesc)));
    ANYNPU_ASSIGN(auto model, ModelTable::instance().find(modelId));
    desc->fill(model->meta, modelId);
    return {};
  });
}

aclError aclmdlGetDescFromFile(aclmdlDesc* modelDesc, const char* modelPath) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelPath, "modelPath"));
    ANYNPU_ASSIGN(auto desc, resolve<ModelDesc>(to_handle(modelDesc)));
    ANYNPU_ASSIGN(auto file, MappedFile::open(modelPath));
    ANYNPU_ASSIGN(om::Meta meta, om::read_meta(file->bytes()), "in '{}'", modelPath);
    desc->fill(std::make_shared<const om::Meta>(std::move(meta)), 0);
    return {};
  });
}

aclError aclmdlGetDescFromMem(aclmdlDesc* modelDesc, const void* model, size_t modelSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto desc, resolve<ModelDesc>(to_handle(modelDesc)));
    ANYNPU_ASSIGN(auto range, check_model_memory(model, modelSize));
    ANYNPU_ASSIGN(om::Meta meta, om::read_meta(std::as_bytes(std::span(range.address, modelSize))));
    desc->fill(std::make_shared<const om::Meta>(std::move(meta)), 0);
    return {};
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
    ANYNPU_ASSIGN(std::string text, op_attribute(*desc, opName, attr));
    return desc->keep(std::move(text));
  });
}

const char* aclmdlGetTensorRealName(const aclmdlDesc* modelDesc, const char* name) {
  return enter_value(__func__, static_cast<const char*>(nullptr), [&]() -> Result<const char*> {
    ANYNPU_TRY(check_pointer(name, "name"));
    for (TensorSide side : {TensorSide::input, TensorSide::output}) {
      size_t index = 0;
      if (!find_index(modelDesc, side, name, &index).ok()) continue;
      ANYNPU_ASSIGN(const DescEntry entry, find_entry(modelDesc, side, index));
      return entry.info->name.c_str();
    }
    return fail(Code::invalid_argument, "the model has no input or output '{}'", name);
  });
}

}  // extern "C"
