// SPDX-License-Identifier: Apache-2.0
#include "service/model/bundles.h"

#include "device/runtime.h"
#include "om/bundle.h"
#include "service/check_pointer.h"
#include "service/finalize.h"
#include "service/model/load.h"
#include "service/model/model_table.h"

namespace anynpu::service {

namespace {

void unload_models(const std::vector<uint32_t>& models, uint32_t bundle_id) {
  for (uint32_t id : models) ModelTable::instance().remove_of_bundle(id, bundle_id);
}

Status no_such_bundle(uint32_t id) {
  return fail(Code::bundle_not_found,
              "the bundle id is {}, which no loaded bundle has; pass the id that "
              "aclmdlBundleLoadFromFile or aclmdlBundleLoadFromMem gave and that was not unloaded",
              id);
}

}  // namespace

Bundles::Bundles() : next_id_(ModelTable::kMaxModels + 1) {}

Bundles& Bundles::instance() {
  // Never destroyed: programs unload in destructors that run at exit. The models belong to the
  // table of models, which finalising clears too.
  static Bundles* bundles = [] {
    on_finalize([] { instance().clear(); });
    return new Bundles;
  }();
  return *bundles;
}

void Bundles::clear() {
  const std::lock_guard lock(mutex_);
  models_.clear();
}

Result<uint32_t> Bundles::load_file(const char* path) {
  ANYNPU_TRY(device::Runtime::instance().current().status());
  ANYNPU_ASSIGN(std::vector<om::Model> sources, om::read_bundle_file(path));
  return load(std::move(sources));
}

Result<uint32_t> Bundles::load_memory(const void* data, size_t size) {
  ANYNPU_ASSIGN(const device::Range range, check_model_memory(data, size));
  const auto bytes = std::as_bytes(std::span(range.address, size));
  ANYNPU_TRY(device::Runtime::instance().current().status());
  ANYNPU_ASSIGN(std::vector<om::Model> sources, om::read_bundle_copy(bytes));
  return load(std::move(sources));
}

Result<uint32_t> Bundles::load(std::vector<om::Model> sources) {
  uint32_t bundle_id = 0;
  {
    const std::lock_guard lock(mutex_);
    bundle_id = next_id_++;
  }
  std::vector<uint32_t> ids;
  for (om::Model& source : sources) {
    auto id = load_bundle_model(std::move(source), bundle_id);
    if (!id.ok()) {
      unload_models(ids, bundle_id);
      return id.status().with_note(format("while loading model {} of the bundle", ids.size()));
    }
    ids.push_back(*id);
  }
  const std::lock_guard lock(mutex_);
  models_.emplace(bundle_id, std::move(ids));
  return bundle_id;
}

Status Bundles::unload(uint32_t bundle_id) {
  std::unique_lock lock(mutex_);
  const auto bundle = models_.extract(bundle_id);
  lock.unlock();
  if (bundle.empty()) return no_such_bundle(bundle_id);
  unload_models(bundle.mapped(), bundle_id);
  return {};
}

Result<size_t> Bundles::model_count(uint32_t bundle_id) {
  const std::lock_guard lock(mutex_);
  const auto bundle = models_.find(bundle_id);
  if (bundle == models_.end()) return no_such_bundle(bundle_id);
  return bundle->second.size();
}

Result<uint32_t> Bundles::model_id(uint32_t bundle_id, size_t index) {
  uint32_t found = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto bundle = models_.find(bundle_id);
    if (bundle == models_.end()) return no_such_bundle(bundle_id);
    const std::vector<uint32_t>& models = bundle->second;
    if (index >= models.size()) {
      return fail(Code::invalid_argument,
                  "index is {}; the bundle {} has {} models, expected 0 to {}", index, bundle_id,
                  models.size(), models.size() - 1);
    }
    found = models[index];
  }
  const auto model = ModelTable::instance().find(found);
  if (model.ok() && (*model)->bundle_id == bundle_id) return found;
  return fail(Code::model_not_found,
              "model {} of the bundle {} was unloaded by aclmdlUnload; load the bundle again",
              index, bundle_id);
}

}  // namespace anynpu::service
