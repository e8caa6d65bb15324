// SPDX-License-Identifier: Apache-2.0
// Loading and unloading of offline models, from files and from memory, with memory of our own or of
// the program, executed by calls or driven by queues.
#include "acl/mdl/execute.h"
#include "api/acl/entry.h"
#include "api/acl/queue_report.h"
#include "service/model/load.h"
#include "service/model/model_table.h"

using namespace anynpu;
using namespace anynpu::acl;

namespace {

Status store(Result<uint32_t> loaded, uint32_t* id) {
  ANYNPU_TRY(loaded.status());
  *id = *loaded;
  return {};
}

Status check_sizes(const size_t* work_size, const size_t* weight_size) {
  ANYNPU_TRY(check_pointer(work_size, "workSize"));
  return check_pointer(weight_size, "weightSize");
}

Status store(Result<exec::Sizes> sizes, size_t* work_size, size_t* weight_size) {
  ANYNPU_TRY(sizes.status());
  *work_size = sizes->work_bytes;
  *weight_size = sizes->weight_bytes;
  return {};
}

}  // namespace

extern "C" {

aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_sizes(workSize, weightSize));
    return store(service::query_file_sizes(fileName), workSize, weightSize);
  });
}

aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize,
                                size_t* weightSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_sizes(workSize, weightSize));
    return store(service::query_memory_sizes(model, modelSize), workSize, weightSize);
  });
}

// The card places descriptions, kernels and tasks of a model in memory of their own. Here they have
// none: the description stays in the mapped file, kernels are code of the library.
aclError aclmdlQueryExeOMDesc(const char* fileName, aclmdlExeOMDesc* mdlPartitionSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(mdlPartitionSize, "mdlPartitionSize"));
    aclmdlExeOMDesc sizes{};
    ANYNPU_TRY(store(service::query_file_sizes(fileName), &sizes.workSize, &sizes.weightSize));
    *mdlPartitionSize = sizes;
    return {};
  });
}

aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    return store(service::load_model_file(modelPath), modelId);
  });
}

aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    return store(service::load_model_memory(model, modelSize), modelId);
  });
}

aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr,
                                   size_t workSize, void* weightPtr, size_t weightSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    const service::GivenMemory given{workPtr, workSize, weightPtr, weightSize};
    return store(service::load_model_file(modelPath, {.given = given}), modelId);
  });
}

aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId,
                                  void* workPtr, size_t workSize, void* weightPtr,
                                  size_t weightSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    const service::GivenMemory given{workPtr, workSize, weightPtr, weightSize};
    return store(service::load_model_memory(model, modelSize, {.given = given}), modelId);
  });
}

aclError aclmdlLoadFromFileWithQ(const char* modelPath, uint32_t* modelId, const uint32_t* inputQ,
                                 size_t inputQNum, const uint32_t* outputQ, size_t outputQNum) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    const service::QueueIds queues{inputQ, inputQNum, outputQ, outputQNum};
    return store(service::load_queue_model_file(modelPath, queues, report_queue_run), modelId);
  });
}

aclError aclmdlLoadFromMemWithQ(const void* model, size_t modelSize, uint32_t* modelId,
                                const uint32_t* inputQ, size_t inputQNum, const uint32_t* outputQ,
                                size_t outputQNum) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    const service::QueueIds queues{inputQ, inputQNum, outputQ, outputQNum};
    return store(service::load_queue_model_memory(model, modelSize, queues, report_queue_run),
                 modelId);
  });
}

aclError aclmdlUnload(uint32_t modelId) {
  return enter(__func__, [&] { return service::ModelTable::instance().remove(modelId); });
}

}  // extern "C"
