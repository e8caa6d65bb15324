// SPDX-License-Identifier: Apache-2.0
// Bundles: several models of one file, loaded and unloaded in one call. Each has an ordinary id, so
// every other aclmdl function takes it, also aclmdlUnload.
#include "acl/mdl/execute.h"
#include "api/acl/entry.h"
#include "service/model/bundles.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::Bundles;

extern "C" {

aclError aclmdlBundleLoadFromFile(const char* modelPath, uint32_t* bundleId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelPath, "modelPath"));
    ANYNPU_TRY(check_pointer(bundleId, "bundleId"));
    ANYNPU_ASSIGN(*bundleId, Bundles::instance().load_file(modelPath));
    return {};
  });
}

aclError aclmdlBundleLoadFromMem(const void* model, size_t modelSize, uint32_t* bundleId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(bundleId, "bundleId"));
    ANYNPU_ASSIGN(*bundleId, Bundles::instance().load_memory(model, modelSize));
    return {};
  });
}

aclError aclmdlBundleUnload(uint32_t bundleId) {
  return enter(__func__, [&] { return Bundles::instance().unload(bundleId); });
}

aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t* modelNum) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelNum, "modelNum"));
    ANYNPU_ASSIGN(*modelNum, Bundles::instance().model_count(bundleId));
    return {};
  });
}

aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t* modelId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    ANYNPU_ASSIGN(*modelId, Bundles::instance().model_id(bundleId, index));
    return {};
  });
}

}  // extern "C"
