// SPDX-License-Identifier: Apache-2.0
// Bundles: several models of one file, loaded and unloaded in one call. Each has an ordinary id, so
// every other aclmdl function takes it, also aclmdlUnload.
#include <map>
#include <mutex>
#include <vector>

#include "acl/mdl/execute.h"
#include "api/acl/entry.h"
#include "api/acl/lifecycle.h"
#include "api/acl/model_load.h"
#include "api/acl/model_table.h"
#include "device/runtime.h"
#include "om/bundle.h"

namespace anynpu::acl {

namespace {

// The models of each bundle. Ids of bundles begin above those of models, so that neither is taken
// for the other, and are never given out again.
struct Bundles {
  std::mutex mutex;
  uint32_t next_id = ModelTable::kMaxModels + 1;
  std::map<uint32_t, std::vector<uint32_t>> models;
};

Bundles& bundles() {
  // Never destroyed: programs unload in destructors that run at exit. The models belong to the
  // table of models, which finalize clears too.
  static Bundles* table = [] {
    on_finalize([] {
      const std::lock_guard lock(bundles().mutex);
      bundles().models.clear();
    });
    return new Bundles;
  }();
  return *table;
}

void unload_models(const std::vector<uint32_t>& models, uint32_t bundle_id) {
  for (uint32_t id : models) ModelTable::instance().remove_of_bundle(id, bundle_id);
}

// All models or none.
template <typename Read>
Result<uint32_t> load_bundle(Read read) {
  ANYNPU_TRY(device::Runtime::instance().current().status());
  ANYNPU_ASSIGN(std::vector<om::Model> sources, read());
  uint32_t bundle_id = 0;
  {
    const std::lock_guard lock(bundles().mutex);
    bundle_id = bundles().next_id++;
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
  const std::lock_guard lock(bundles().mutex);
  bundles().models.emplace(bundle_id, std::move(ids));
  return bundle_id;
}

Failure no_such_bundle(uint32_t id) {
  return {ACL_ERROR_INVALID_BUNDLE_MODEL_ID,
          fail(Code::not_found,
               "the bundle id is {}, which no loaded bundle has; pass the id that "
               "aclmdlBundleLoadFromFile or aclmdlBundleLoadFromMem gave and that was not unloaded",
               id)};
}

Failure model_of_bundle(uint32_t bundle_id, size_t index, uint32_t& model_id) {
  uint32_t found = 0;
  {
    const std::lock_guard lock(bundles().mutex);
    const auto bundle = bundles().models.find(bundle_id);
    if (bundle == bundles().models.end()) return no_such_bundle(bundle_id);
    const std::vector<uint32_t>& models = bundle->second;
    if (index >= models.size()) {
      return fail(Code::invalid_argument,
                  "index is {}; the bundle {} has {} models, expected 0 to {}", index, bundle_id,
                  models.size(), models.size() - 1);
    }
    found = models[index];
  }
  const auto model = ModelTable::instance().find(found);
  if (!model.ok() || (*model)->bundle_id != bundle_id) {
    return fail(Code::not_found,
                "model {} of the bundle {} was unloaded by aclmdlUnload; load the bundle again",
                index, bundle_id);
  }
  model_id = found;
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclmdlBundleLoadFromFile(const char* modelPath, uint32_t* bundleId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelPath, "modelPath"));
    ANYNPU_TRY(check_pointer(bundleId, "bundleId"));
    ANYNPU_ASSIGN(*bundleId, load_bundle([&] { return om::read_bundle_file(modelPath); }));
    return {};
  });
}

aclError aclmdlBundleLoadFromMem(const void* model, size_t modelSize, uint32_t* bundleId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(bundleId, "bundleId"));
    ANYNPU_ASSIGN(const device::Range range, check_model_memory(model, modelSize));
    const auto bytes = std::as_bytes(std::span(range.address, modelSize));
    ANYNPU_ASSIGN(*bundleId, load_bundle([&] { return om::read_bundle_copy(bytes); }));
    return {};
  });
}

aclError aclmdlBundleUnload(uint32_t bundleId) {
  return enter(__func__, [&]() -> Failure {
    std::unique_lock lock(bundles().mutex);
    const auto bundle = bundles().models.extract(bundleId);
    lock.unlock();
    if (bundle.empty()) return no_such_bundle(bundleId);
    unload_models(bundle.mapped(), bundleId);
    return {};
  });
}

aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t* modelNum) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(check_pointer(modelNum, "modelNum"));
    const std::lock_guard lock(bundles().mutex);
    const auto bundle = bundles().models.find(bundleId);
    if (bundle == bundles().models.end()) return no_such_bundle(bundleId);
    *modelNum = bundle->second.size();
    return {};
  });
}

aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t* modelId) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    return model_of_bundle(bundleId, index, *modelId);
  });
}

}  // extern "C"
