// SPDX-License-Identifier: Apache-2.0
#include "service/model/model_desc.h"

#include <optional>

#include "base/mapped_file.h"
#include "compile/open_model.h"
#include "om/container.h"
#include "service/check_pointer.h"
#include "service/model/load.h"
#include "service/model/model_table.h"

namespace anynpu::service {

namespace {

// Outputs are called "node:index:tensor"; the tensor's name is found as well.
bool ends_in(std::string_view full, std::string_view name) {
  return full.size() > name.size() + 1 && full.ends_with(name) &&
         full[full.size() - name.size() - 1] == ':';
}

}  // namespace

std::string DescribedTensor::short_name() const {
  if (info->name.size() <= kLongestTensorName) return info->name;
  return format("acl_modelId_{}_{}_{}", model_id, name_of(side), index);
}

void ModelDesc::fill(std::shared_ptr<const om::Meta> meta, uint32_t model_id) {
  const std::lock_guard lock(mutex_);
  if (meta_) earlier_.push_back(std::move(meta_));
  meta_ = std::move(meta);
  model_id_ = model_id;
}

Status ModelDesc::fill(uint32_t model_id) {
  ANYNPU_ASSIGN(auto model, ModelTable::instance().find(model_id));
  fill(model->meta, model_id);
  return {};
}

Status ModelDesc::fill_from_file(const char* path) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path));
  ANYNPU_ASSIGN(om::Meta meta, compile::open_meta(file->bytes()), "in '{}'", path);
  fill(std::make_shared<const om::Meta>(std::move(meta)), 0);
  return {};
}

Status ModelDesc::fill_from_memory(const void* model, size_t size) {
  ANYNPU_ASSIGN(auto range, check_model_memory(model, size));
  ANYNPU_ASSIGN(om::Meta meta, compile::open_meta(std::as_bytes(std::span(range.address, size))));
  fill(std::make_shared<const om::Meta>(std::move(meta)), 0);
  return {};
}

Result<std::shared_ptr<const om::Meta>> ModelDesc::meta() const {
  const std::lock_guard lock(mutex_);
  if (meta_) return meta_;
  return fail(Code::bad_call_order,
              "the model description is empty; call aclmdlGetDesc with a loaded model first");
}

Result<size_t> ModelDesc::count(TensorSide side) const {
  ANYNPU_ASSIGN(const auto meta, this->meta());
  return tensors_of(*meta, side).size();
}

Result<DescribedTensor> ModelDesc::tensor(TensorSide side, size_t index) const {
  ANYNPU_ASSIGN(const auto meta, this->meta());
  const auto& list = tensors_of(*meta, side);
  if (index >= list.size()) {
    return fail(Code::invalid_argument, "index is {}, the model '{}' has {} {}s; expected less",
                index, meta->name, list.size(), name_of(side));
  }
  return DescribedTensor{meta, &list[index], model_id_, side, index};
}

Result<size_t> ModelDesc::index_of(TensorSide side, std::string_view name) const {
  ANYNPU_ASSIGN(const auto meta, this->meta());
  const auto& list = tensors_of(*meta, side);
  std::optional<size_t> whole, part;
  std::string names;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string& full = list[i].name;
    const DescribedTensor tensor{meta, &list[i], model_id_, side, i};
    if (!whole && (full == name || tensor.short_name() == name)) whole = i;
    if (!part && ends_in(full, name)) part = i;
    names += (i ? ", " : "") + full;
  }
  if (whole) return *whole;
  if (part) return *part;
  return fail(Code::invalid_argument, "the model '{}' has no {} '{}'; it has: {}", meta->name,
              name_of(side), name, names);
}

Result<const char*> ModelDesc::real_name(std::string_view name) const {
  for (TensorSide side : {TensorSide::input, TensorSide::output}) {
    const auto index = index_of(side, name);
    if (!index.ok()) continue;
    ANYNPU_ASSIGN(const DescribedTensor tensor, this->tensor(side, *index));
    return tensor.info->name.c_str();
  }
  return fail(Code::invalid_argument, "the model has no input or output '{}'", name);
}

// "[5]conv1[5]relu1": the operators of the source model that `op` replaces.
Result<const char*> ModelDesc::op_attribute(std::string_view op, std::string_view attribute) {
  if (attribute != kOriginalNamesAttribute) {
    return fail(Code::invalid_argument, "the attribute is '{}'; expected {}", attribute,
                kOriginalNamesAttribute);
  }
  ANYNPU_ASSIGN(const auto meta, this->meta());
  for (const auto& [name, sources] : meta->origins) {
    if (name != op) continue;
    std::string text;
    for (const std::string& source : sources) text += format("[{}]{}", source.size(), source);
    const std::lock_guard lock(mutex_);
    return returned_texts_.insert(std::move(text)).first->c_str();
  }
  return fail(Code::invalid_argument, "the model '{}' has no operator '{}'", meta->name, op);
}

Result<DescribedTensor> find_tensor(Handle desc, TensorSide side, size_t index) {
  ANYNPU_ASSIGN(auto found, resolve<ModelDesc>(desc));
  return found->tensor(side, index);
}

}  // namespace anynpu::service
