// SPDX-License-Identifier: Apache-2.0
// aclmdlDataset: a list of data buffers. Destroying one frees neither the buffers nor their memory,
// and is allowed after aclFinalize because programs do it in destructors.
#include "acl/mdl/dataset.h"

#include "api/acl/object_calls.h"
#include "service/model/dataset.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::Dataset;

extern "C" {

aclmdlDataset* aclmdlCreateDataset(void) { return create<aclmdlDataset*, Dataset>(__func__); }

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return destroy<Dataset>(__func__, dataset);
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, resolve<Dataset>(to_handle(dataset)));
    return found->add(to_handle(dataBuffer));
  });
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  return enter_value(__func__, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(auto found, resolve<Dataset>(to_handle(dataset)));
    return found->read()->buffers.size();
  });
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  return enter_value(__func__, static_cast<aclDataBuffer*>(nullptr),
                     [&]() -> Result<aclDataBuffer*> {
                       ANYNPU_ASSIGN(auto found, resolve<Dataset>(to_handle(dataset)));
                       ANYNPU_ASSIGN(const Handle buffer, found->buffer(index));
                       return from_handle<aclDataBuffer*>(buffer);
                     });
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc,
                                    size_t index) {
  return enter(__func__, [&] {
    return service::set_dataset_desc(to_handle(dataset), to_handle(tensorDesc), index);
  });
}

aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  return enter_value(__func__, static_cast<aclTensorDesc*>(nullptr),
                     [&]() -> Result<aclTensorDesc*> {
                       ANYNPU_ASSIGN(auto found, resolve<Dataset>(to_handle(dataset)));
                       ANYNPU_ASSIGN(const Handle desc, found->desc_handle(index));
                       return from_handle<aclTensorDesc*>(desc);
                     });
}

}  // extern "C"
