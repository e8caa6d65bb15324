// SPDX-License-Identifier: Apache-2.0
// Models with gears: what they are, and choosing one for the next execution with a dataset. The
// setters write the chosen extents into the buffer of the input ascend_mbatch_shape_data too, as
// documented; what counts is kept in the dataset.
#include <algorithm>
#include <cstring>

#include "acl/mdl/dataset.h"
#include "acl/mdl/desc.h"
#include "api/acl/entry.h"
#include "api/acl/model_desc.h"
#include "api/acl/model_objects.h"
#include "api/acl/model_table.h"
#include "tensor/data_buffer.h"

namespace anynpu::acl {

namespace {

using om::GearKind;
using Gear = std::vector<int64_t>;

const char* setter_of(GearKind kind) {
  switch (kind) {
    case GearKind::batch:
      return "aclmdlSetDynamicBatchSize";
    case GearKind::image:
      return "aclmdlSetDynamicHWSize";
    default:
      return "aclmdlSetInputDynamicDims";
  }
}

Failure check_kind(const om::Meta& meta, GearKind kind) {
  if (meta.has_ranges()) {
    return {ACL_ERROR_MODEL_NOT_DYNAMIC,
            fail(Code::invalid_argument,
                 "the model '{}' has no gears but ranges; only aclmdlSetDatasetTensorDesc may be "
                 "called for it",
                 meta.name)};
  }
  if (!meta.has_gears()) {
    return {ACL_ERROR_MODEL_NOT_DYNAMIC,
            fail(Code::invalid_argument,
                 "the model '{}' has no gears; build it with --dynamic_batch_size, "
                 "--dynamic_image_size or --dynamic_dims",
                 meta.name)};
  }
  if (meta.gear_kind == kind) return {};
  return fail(Code::invalid_argument,
              "the model '{}' has gears of another kind; only {} may be called for it", meta.name,
              setter_of(meta.gear_kind));
}

std::string list_gears(const om::Meta& meta) {
  std::string text;
  for (const Gear& gear : meta.gears) text += (text.empty() ? "" : ", ") + to_string(gear);
  return text;
}

// The numbers a program would see in the buffer: for dims, those of the open extents alone.
Gear shown_numbers(const om::Meta& meta, const Gear& gear) {
  if (meta.gear_kind != GearKind::dims) return gear;
  Gear shown;
  size_t at = 0;
  for (const om::TensorInfo& info : meta.inputs) {
    if (info.role != om::Role::data) continue;
    for (int64_t extent : info.shape) {
      if (extent == kDynamicDim) shown.push_back(gear[at]);
      ++at;
    }
  }
  return shown;
}

Failure write_gear(const Dataset& dataset, size_t index, const om::Meta& meta, const Gear& gear) {
  const om::TensorInfo& info = meta.inputs[index];
  auto buffer = resolve<DataBuffer>(dataset.read()->at(index));
  if (!buffer.ok()) return buffer.status().with_note(format("in input {} of the dataset", index));
  const DataBuffer data = **buffer;
  const Gear shown = shown_numbers(meta, gear);
  const size_t bytes = shown.size() * sizeof(int64_t);
  if (data.size < bytes) {
    return {ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID,
            fail(Code::shape_mismatch, "input {} ('{}') has a buffer of {} bytes, expected {}",
                 index, info.name, data.size, bytes)};
  }
  auto range = device::check_range(data.data, bytes, device::Access::write, info.name.c_str());
  if (!range.ok()) return range.status();
  std::memcpy(range->address, shown.data(), bytes);
  return {};
}

// Guide 7.6.1: with dynamic AIPP the picture and the gear have the size of the largest one.
Status check_with_aipp(const Model& model, GearKind kind, size_t gear) {
  const om::Meta& meta = *model.meta;
  const size_t largest = model.shaped->largest_gear();
  const bool dynamic = std::any_of(meta.aipp.begin(), meta.aipp.end(),
                                   [](const om::Aipp& aipp) { return aipp.dynamic; });
  if (!dynamic || kind != GearKind::image || gear == largest) return {};
  return fail(Code::invalid_argument,
              "the model '{}' has dynamic AIPP and gears of image size; the gear {} is not its "
              "largest, expected {}",
              meta.name, to_string(meta.gears[gear]), to_string(meta.gears[largest]));
}

Failure set_gear(uint32_t model_id, aclmdlDataset* handle, size_t index, GearKind kind,
                 const Gear& wanted) {
  auto model = ModelTable::instance().find(model_id);
  if (!model.ok()) return model.status();
  auto dataset = resolve<Dataset>(to_handle(handle));
  if (!dataset.ok()) return dataset.status();
  const om::Meta& meta = *(*model)->meta;
  if (Failure failure = check_kind(meta, kind); !failure.ok()) return failure;
  if (index >= meta.inputs.size() || meta.inputs[index].role != om::Role::gear) {
    return fail(Code::invalid_argument,
                "index is {}; expected the index of the input '{}', which "
                "aclmdlGetInputIndexByName gives",
                index, ACL_DYNAMIC_TENSOR_NAME);
  }
  if (!(*dataset)->read()->descs.empty()) {
    return fail(
        Code::invalid_argument,
        "the dataset has tensor descriptions; only one of aclmdlSetDatasetTensorDesc and {} "
        "may be used with one model",
        setter_of(kind));
  }
  const auto found = std::find(meta.gears.begin(), meta.gears.end(), wanted);
  if (found == meta.gears.end()) {
    return {ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
            fail(Code::invalid_argument, "{} is none of the gears of the model '{}'; it has: {}",
                 to_string(wanted), meta.name, list_gears(meta))};
  }
  const auto gear = static_cast<size_t>(found - meta.gears.begin());
  if (Status status = check_with_aipp(**model, kind, gear); !status.ok()) return status;
  if (Failure failure = write_gear(**dataset, index, meta, *found); !failure.ok()) return failure;
  (*dataset)->choose_gear({model_id, gear});
  (*model)->current_gear = gear;
  return {};
}

Result<std::shared_ptr<const om::Meta>> meta_of(const aclmdlDesc* desc) {
  ANYNPU_ASSIGN(auto object, resolve<ModelDesc>(to_handle(desc)));
  return object->meta();
}

// Dims of an output in the gear that was set last; of the largest before any was.
Status current_dims(const aclmdlDesc* desc, size_t index, aclmdlIODims* dims) {
  ANYNPU_TRY(check_pointer(dims, "dims"));
  ANYNPU_ASSIGN(const DescEntry entry, find_entry(desc, TensorSide::output, index));
  Shape shape = entry.info->shape;
  if (entry.meta->has_gears() && entry.model_id != 0) {
    ANYNPU_ASSIGN(auto model, ModelTable::instance().find(entry.model_id));
    const auto& outputs = model->shaped->gear(model->current_gear).outputs();
    if (index < outputs.size()) shape = outputs[index].shape;
  }
  return fill_dims(entry, TensorSide::output, index, shape, dims);
}

Status fill_gear_dims(const om::Meta& meta, aclmdlIODims* dims, size_t count) {
  const size_t gears = meta.gear_kind == GearKind::dims ? meta.gears.size() : 0;
  if (gears == 0) {
    return fail(Code::invalid_argument, "the model '{}' has no gears of dims (--dynamic_dims)",
                meta.name);
  }
  if (count < gears) {
    return fail(Code::invalid_argument, "gearCount is {}, the model has {} gears", count, gears);
  }
  for (size_t i = 0; i < gears; ++i) {
    if (meta.gears[i].size() > ACL_MAX_DIM_CNT) {
      return fail(Code::unsupported_shape, "a gear has {} dims; expected at most {}",
                  meta.gears[i].size(), ACL_MAX_DIM_CNT);
    }
    std::memset(&dims[i], 0, sizeof dims[i]);
    dims[i].dimCount = meta.gears[i].size();
    std::copy(meta.gears[i].begin(), meta.gears[i].end(), dims[i].dims);
  }
  return {};
}

// The smallest and largest number that gears give one open extent of an input.
om::Range gear_range(const om::Meta& meta, size_t input, size_t dim) {
  size_t at = 0;
  if (meta.gear_kind == GearKind::dims) {
    for (size_t i = 0; i < input; ++i) at += meta.inputs[i].shape.size();
    at += dim;
  } else {
    const Shape& shape = meta.inputs[input].shape;
    at = static_cast<size_t>(
        std::count(shape.begin(), shape.begin() + static_cast<long>(dim), kDynamicDim));
  }
  om::Range range{INT64_MAX, 0};
  for (const Gear& gear : meta.gears) {
    if (at >= gear.size()) return {0, -1};
    range = {std::min(range.first, gear[at]), std::max(range.second, gear[at])};
  }
  return range;
}

Status fill_ranges(const aclmdlDesc* desc, size_t index, aclmdlIODimsRange* out) {
  ANYNPU_TRY(check_pointer(out, "dimsRange"));
  ANYNPU_ASSIGN(const DescEntry entry, find_entry(desc, TensorSide::input, index));
  const om::TensorInfo& info = *entry.info;
  if (info.shape.size() > ACL_MAX_DIM_CNT) {
    return fail(Code::unsupported_shape, "'{}' has {} dims; expected at most {}", info.name,
                info.shape.size(), ACL_MAX_DIM_CNT);
  }
  std::memset(out, 0, sizeof *out);
  out->rangeCount = info.shape.size();
  for (size_t i = 0; i < info.shape.size(); ++i) {
    om::Range range{info.shape[i], info.shape[i]};
    if (!info.ranges.empty()) {
      range = info.ranges[i];
    } else if (info.shape[i] == kDynamicDim) {
      range = gear_range(*entry.meta, index, i);
    }
    out->range[i][0] = range.first;
    out->range[i][1] = range.second;
  }
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   uint64_t batchSize) {
  return enter(__func__, [&] {
    return set_gear(modelId, dataset, index, om::GearKind::batch,
                    {static_cast<int64_t>(batchSize)});
  });
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                uint64_t height, uint64_t width) {
  return enter(__func__, [&] {
    return set_gear(modelId, dataset, index, om::GearKind::image,
                    {static_cast<int64_t>(height), static_cast<int64_t>(width)});
  });
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   const aclmdlIODims* dims) {
  return enter(__func__, [&]() -> Failure {
    if (Status status = check_pointer(dims, "dims"); !status.ok()) return status;
    if (dims->dimCount > ACL_MAX_DIM_CNT) {
      return fail(Code::invalid_argument, "dimCount is {}; expected at most {}", dims->dimCount,
                  ACL_MAX_DIM_CNT);
    }
    return set_gear(modelId, dataset, index, om::GearKind::dims,
                    {dims->dims, dims->dims + dims->dimCount});
  });
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return enter(__func__, [&] { return current_dims(modelDesc, index, dims); });
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(batch, "batch"));
    ANYNPU_ASSIGN(const auto meta, meta_of(modelDesc));
    std::memset(batch, 0, sizeof *batch);
    if (meta->gear_kind != om::GearKind::batch) return {};
    for (const auto& gear : meta->gears) {
      batch->batch[batch->batchCount++] = static_cast<uint64_t>(gear[0]);
    }
    return {};
  });
}

aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t index, aclmdlHW* hw) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(hw, "hw"));
    ANYNPU_ASSIGN(const auto meta, meta_of(modelDesc));
    std::memset(hw, 0, sizeof *hw);
    if (meta->gear_kind != om::GearKind::image) return {};
    for (const auto& gear : meta->gears) {
      hw->hw[hw->hwCount][0] = static_cast<uint64_t>(gear[0]);
      hw->hw[hw->hwCount++][1] = static_cast<uint64_t>(gear[1]);
    }
    return {};
  });
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t index,
                                        size_t* gearCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(gearCount, "gearCount"));
    ANYNPU_ASSIGN(const auto meta, meta_of(modelDesc));
    *gearCount = meta->gear_kind == om::GearKind::dims ? meta->gears.size() : 0;
    return {};
  });
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims,
                                   size_t gearCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dims, "dims"));
    ANYNPU_ASSIGN(const auto meta, meta_of(modelDesc));
    return fill_gear_dims(*meta, dims, gearCount);
  });
}

aclError aclmdlGetInputDimsRange(const aclmdlDesc* modelDesc, size_t index,
                                 aclmdlIODimsRange* dimsRange) {
  return enter(__func__, [&] { return fill_ranges(modelDesc, index, dimsRange); });
}

}  // extern "C"
