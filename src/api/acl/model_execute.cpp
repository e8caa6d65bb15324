// SPDX-License-Identifier: Apache-2.0
// Execution of loaded models: synchronous in the calling thread, asynchronous as a task of a
// stream.
#include "acl/mdl/execute.h"
#include "api/acl/entry.h"
#include "service/model/execute.h"

using namespace anynpu;
using namespace anynpu::acl;

namespace {

service::ExecuteCall to_call(uint32_t id, const aclmdlDataset* input, aclmdlDataset* output) {
  return {id, to_handle(input), to_handle(output)};
}

}  // namespace

extern "C" {

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output) {
  return enter(__func__, [&] { return service::execute(to_call(modelId, input, output)); });
}

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                         aclrtStream stream, const aclmdlExecConfigHandle* handle) {
  return enter(__func__, [&] {
    return service::execute_and_wait(to_call(modelId, input, output), to_handle(stream),
                                     to_handle(handle));
  });
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                            aclrtStream stream) {
  return enter(__func__, [&] {
    return service::execute_async(to_call(modelId, input, output), to_handle(stream));
  });
}

aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                              aclrtStream stream, const aclmdlExecConfigHandle* handle) {
  return enter(__func__, [&] {
    return service::execute_async(to_call(modelId, input, output), to_handle(stream),
                                  to_handle(handle));
  });
}

}  // extern "C"
