// SPDX-License-Identifier: Apache-2.0
// aclmdlDataset: a list of data buffers. Destroying one frees neither the buffers nor their memory,
// and is allowed after aclFinalize because programs do it in destructors.
#include "acl/mdl/dataset.h"

#include "api/acl/entry.h"
#include "api/acl/model_objects.h"
#include "tensor/data_buffer.h"

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclmdlDataset* aclmdlCreateDataset(void) {
  return enter_value(__func__, static_cast<aclmdlDataset*>(nullptr),
                     [&] { return insert_object<aclmdlDataset*>(std::make_shared<Dataset>()); });
}

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return enter<When::before_init>(__func__,
                                  [&]() -> Status { return remove_object<Dataset>(dataset); });
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto set, resolve<Dataset>(to_handle(dataset)));
    ANYNPU_TRY(resolve<DataBuffer>(to_handle(dataBuffer)).status());
    set->add(to_handle(dataBuffer));
    return {};
  });
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  return enter_value(__func__, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(auto set, resolve<Dataset>(to_handle(dataset)));
    return set->size();
  });
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  return enter_value(__func__, static_cast<aclDataBuffer*>(nullptr),
                     [&]() -> Result<aclDataBuffer*> {
                       ANYNPU_ASSIGN(auto set, resolve<Dataset>(to_handle(dataset)));
                       if (const Handle buffer = set->at(index))
                         return from_handle<aclDataBuffer*>(buffer);
                       return fail(Code::invalid_argument,
                                   "index is {}, the dataset has {} buffers", index, set->size());
                     });
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc,
                                    size_t index) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto set, resolve<Dataset>(to_handle(dataset)));
    ANYNPU_ASSIGN(auto desc, resolve<TensorDesc>(to_handle(tensorDesc)));
    if (index >= set->size()) {
      return fail(Code::invalid_argument,
                  "index is {}, the dataset has {} buffers; add the buffers first", index,
                  set->size());
    }
    // A copy: the program may destroy its description at once.
    auto copy = std::make_shared<TensorDesc>();
    copy->dtype = desc->dtype;
    copy->format = desc->format;
    copy->shape = desc->shape;
    copy->name = desc->name;
    set->describe(index, std::move(copy));
    return {};
  });
}

aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  return enter_value(
      __func__, static_cast<aclTensorDesc*>(nullptr), [&]() -> Result<aclTensorDesc*> {
        ANYNPU_ASSIGN(auto set, resolve<Dataset>(to_handle(dataset)));
        if (const Handle desc = set->desc_handle(index)) return from_handle<aclTensorDesc*>(desc);
        return fail(Code::invalid_argument,
                    "the dataset has no tensor description {}: it is there once it was set, or "
                    "after the execution of a model whose shapes come at run time",
                    index);
      });
}

}  // extern "C"
