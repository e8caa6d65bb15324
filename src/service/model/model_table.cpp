// SPDX-License-Identifier: Apache-2.0
#include "service/model/model_table.h"

#include "prof/subscription.h"
#include "service/finalize.h"

namespace anynpu::service {

namespace {

Status no_such_model(uint32_t id) {
  return fail(
      Code::model_not_found,
      "the model id is {}, which no loaded model has; pass the id that a load function gave "
      "and that was not unloaded{}",
      id,
      id > ModelTable::kMaxModels
          ? " (ids this high are bundles; aclmdlBundleGetModelId gives those of their models)"
          : "");
}

}  // namespace

ModelTable& ModelTable::instance() {
  // Never destroyed: programs unload in destructors that run at exit.
  static ModelTable* table = [] {
    on_finalize([] { instance().clear(); });
    return new ModelTable;
  }();
  return *table;
}

Result<uint32_t> ModelTable::add(std::shared_ptr<Model> model) {
  const std::lock_guard lock(mutex_);
  for (uint32_t tries = 0; tries < kMaxModels; ++tries) {
    const uint32_t id = next_;
    next_ = next_ % kMaxModels + 1;
    if (handles_[id].load(std::memory_order_relaxed) != 0) continue;
    const Handle handle = HandleTable::instance().insert(std::move(model));
    if (handle == 0) break;
    handles_[id].store(handle, std::memory_order_release);
    return id;
  }
  return fail(Code::limit_exceeded, "{} models are loaded, no id is left; unload some", kMaxModels);
}

Result<ModelTable::Pin> ModelTable::find(uint32_t id) {
  if (id <= kMaxModels) {
    const Handle handle = handles_[id].load(std::memory_order_acquire);
    if (Pin pin = HandleTable::instance().find<Model>(handle)) return pin;
  }
  return no_such_model(id);
}

Status ModelTable::remove(uint32_t id) {
  const Handle handle = id <= kMaxModels ? handles_[id].exchange(0) : 0;
  const auto model = handle ? HandleTable::instance().remove<Model>(handle) : nullptr;
  if (!model) return no_such_model(id);
  retire(id, *model);
  return {};
}

void ModelTable::retire(uint32_t id, const Model& model) {
  if (model.drive) model.drive->stop();
  prof::model_unloaded(id);
}

void ModelTable::stop_drives(int32_t device_id) {
  for (const auto& model : HandleTable::instance().all<Model>()) {
    if (model->drive && model->device_id == device_id) model->drive->stop();
  }
}

bool ModelTable::remove_of_bundle(uint32_t id, uint32_t bundle_id) {
  Handle handle = handles_[id].load(std::memory_order_acquire);
  const Pin model = HandleTable::instance().find<Model>(handle);
  if (!model || model->bundle_id != bundle_id) return false;
  if (!handles_[id].compare_exchange_strong(handle, 0)) return false;  // somebody else did
  HandleTable::instance().remove<Model>(handle);
  retire(id, *model);
  return true;
}

void ModelTable::clear() {
  for (uint32_t id = 1; id <= kMaxModels; ++id) {
    if (handles_[id].load(std::memory_order_relaxed) != 0) (void)remove(id);
  }
}

}  // namespace anynpu::service
