// SPDX-License-Identifier: Apache-2.0
// aclmdlDataset: a list of data buffers. Destroying one frees neither the buffers nor their memory,
// and is allowed after aclFinalize because programs do it in destructors.
#include "acl/mdl/dataset.h"

#include "api/acl/entry.h"
#include "api/acl/model_objects.h"
#include "tensor/data_buffer.h"

namespace anynpu::acl {

void Dataset::choose_gear(const Choice& choice) {
  {
    const auto contents = read();
    const Choice* const earlier = contents->gear(choice.model_id);
    if (earlier && earlier->value == choice.value) return;
  }
  contents_.change([&](Contents& contents) {
    std::erase_if(contents.gears,
                  [&](const Choice& other) { return other.model_id == choice.model_id; });
    contents.gears.push_back(choice);
  });
}

void Dataset::mark_aipp(const AippChoice& choice) {
  {
    const auto contents = read();
    const AippChoice* const earlier = contents->picture(choice.model_id, choice.index);
    if (earlier && earlier->picture == choice.picture) return;
  }
  contents_.change([&](Contents& contents) {
    std::erase_if(contents.aipp, [&](const AippChoice& other) {
      return other.model_id == choice.model_id && other.index == choice.index;
    });
    contents.aipp.push_back(choice);
  });
}

void Dataset::describe(size_t index, std::shared_ptr<TensorDesc> desc) {
  Handle before = 0;
  contents_.change([&](Contents& contents) {
    if (const Described* const earlier = contents.desc(index)) before = earlier->handle;
    std::erase_if(contents.descs, [&](const Described& other) { return other.index == index; });
    contents.descs.push_back({index, std::move(desc), 0});
  });
  HandleTable::instance().remove<TensorDesc>(before);
}

void Dataset::describe_found(size_t index, const om::TensorInfo& info, DType dtype,
                             const Shape& shape) {
  {
    const auto contents = read();
    if (const Described* const entry = contents->desc(index)) {
      const TensorDesc& desc = *entry->desc;
      if (desc.dtype == dtype && desc.format == info.format && desc.shape == shape &&
          desc.name == info.name)
        return;
    }
  }
  auto desc = std::make_shared<TensorDesc>();
  desc->dtype = dtype;
  desc->format = info.format;
  desc->shape = shape;
  desc->name = info.name;
  describe(index, std::move(desc));
}

Handle Dataset::desc_handle(size_t index) {
  const auto handle_of = [index](const Contents& contents) -> Handle {
    const Described* const entry = contents.desc(index);
    if (!entry || !HandleTable::instance().find<TensorDesc>(entry->handle)) return 0;
    return entry->handle;
  };
  Handle handle = handle_of(*read());
  if (handle) return handle;
  contents_.change([&](Contents& contents) {
    handle = handle_of(contents);  // made meanwhile
    if (handle) return;
    for (Described& entry : contents.descs) {
      if (entry.index == index) handle = entry.handle = HandleTable::instance().insert(entry.desc);
    }
  });
  return handle;
}

}  // namespace anynpu::acl

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
    return set->read()->buffers.size();
  });
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  return enter_value(
      __func__, static_cast<aclDataBuffer*>(nullptr), [&]() -> Result<aclDataBuffer*> {
        ANYNPU_ASSIGN(auto set, resolve<Dataset>(to_handle(dataset)));
        const auto contents = set->read();
        if (const Handle buffer = contents->at(index)) return from_handle<aclDataBuffer*>(buffer);
        return fail(Code::invalid_argument, "index is {}, the dataset has {} buffers", index,
                    contents->buffers.size());
      });
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc,
                                    size_t index) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto set, resolve<Dataset>(to_handle(dataset)));
    ANYNPU_ASSIGN(auto desc, resolve<TensorDesc>(to_handle(tensorDesc)));
    if (const size_t count = set->read()->buffers.size(); index >= count) {
      return fail(Code::invalid_argument,
                  "index is {}, the dataset has {} buffers; add the buffers first", index, count);
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
