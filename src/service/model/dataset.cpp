// SPDX-License-Identifier: Apache-2.0
#include "service/model/dataset.h"

#include "tensor/data_buffer.h"

namespace anynpu::service {

Dataset::~Dataset() {
  const auto contents = read();
  for (const Description& entry : contents->descs)
    HandleTable::instance().remove<TensorDesc>(entry.handle);
}

Status Dataset::add(Handle buffer) {
  ANYNPU_TRY(resolve<DataBuffer>(buffer).status());
  contents_.change([&](Contents& contents) { contents.buffers.push_back(buffer); });
  return {};
}

Result<Handle> Dataset::buffer(size_t index) const {
  const auto contents = read();
  if (const Handle buffer = contents->at(index)) return buffer;
  return fail(Code::invalid_argument, "index is {}, the dataset has {} buffers", index,
              contents->buffers.size());
}

void Dataset::choose_gear(const GearChoice& choice) {
  {
    const auto contents = read();
    const GearChoice* const earlier = contents->gear(choice.model_id);
    if (earlier && earlier->gear == choice.gear) return;
  }
  contents_.change([&](Contents& contents) {
    std::erase_if(contents.gears,
                  [&](const GearChoice& other) { return other.model_id == choice.model_id; });
    contents.gears.push_back(choice);
  });
}

void Dataset::choose_aipp(const AippChoice& choice) {
  {
    const auto contents = read();
    const AippChoice* const earlier = contents->picture(choice.model_id, choice.input);
    if (earlier && earlier->picture == choice.picture) return;
  }
  contents_.change([&](Contents& contents) {
    std::erase_if(contents.aipp, [&](const AippChoice& other) {
      return other.model_id == choice.model_id && other.input == choice.input;
    });
    contents.aipp.push_back(choice);
  });
}

Status Dataset::set_desc(size_t index, const TensorDesc& desc) {
  if (const size_t count = read()->buffers.size(); index >= count) {
    return fail(Code::invalid_argument,
                "index is {}, the dataset has {} buffers; add the buffers first", index, count);
  }
  auto copy = std::make_shared<TensorDesc>();
  copy->dtype = desc.dtype;
  copy->format = desc.format;
  copy->shape = desc.shape;
  copy->name = desc.name;
  replace_desc(index, std::move(copy));
  return {};
}

void Dataset::replace_desc(size_t index, std::shared_ptr<TensorDesc> desc) {
  Handle before = 0;
  contents_.change([&](Contents& contents) {
    if (const Description* const earlier = contents.desc(index)) before = earlier->handle;
    std::erase_if(contents.descs, [&](const Description& other) { return other.index == index; });
    contents.descs.push_back({index, std::move(desc), 0});
  });
  HandleTable::instance().remove<TensorDesc>(before);
}

void Dataset::set_found_desc(size_t index, const om::TensorInfo& info, DType dtype,
                             const Shape& shape) {
  {
    const auto contents = read();
    if (const Description* const entry = contents->desc(index)) {
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
  replace_desc(index, std::move(desc));
}

Result<Handle> Dataset::desc_handle(size_t index) {
  const auto handle_of = [index](const Contents& contents) -> Handle {
    const Description* const entry = contents.desc(index);
    if (!entry || !HandleTable::instance().find<TensorDesc>(entry->handle)) return 0;
    return entry->handle;
  };
  Handle handle = handle_of(*read());
  if (handle) return handle;
  contents_.change([&](Contents& contents) {
    handle = handle_of(contents);  // another thread may have made it
    if (handle) return;
    for (Description& entry : contents.descs) {
      if (entry.index == index) handle = entry.handle = HandleTable::instance().insert(entry.desc);
    }
  });
  if (handle) return handle;
  return fail(Code::invalid_argument,
              "the dataset has no tensor description {}: it is there once it was set, or "
              "after the execution of a model whose shapes come at run time",
              index);
}

Status set_dataset_desc(Handle dataset, Handle desc, size_t index) {
  ANYNPU_ASSIGN(auto found, resolve<Dataset>(dataset));
  ANYNPU_ASSIGN(auto description, resolve<TensorDesc>(desc));
  return found->set_desc(index, *description);
}

}  // namespace anynpu::service
