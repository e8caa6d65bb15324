// SPDX-License-Identifier: Apache-2.0
#include "service/model/gears.h"

#include <algorithm>

#include "device/host_view.h"
#include "device/memory.h"
#include "service/model/dataset.h"
#include "service/model/model_desc.h"
#include "service/model/model_table.h"
#include "tensor/data_buffer.h"

namespace anynpu::service {

namespace {

using om::GearKind;

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

Status check_kind(const om::Meta& meta, GearKind kind) {
  if (meta.has_ranges()) {
    return fail(Code::model_has_no_gears,
                "the model '{}' has no gears but ranges; only aclmdlSetDatasetTensorDesc may be "
                "called for it",
                meta.name);
  }
  if (!meta.has_gears()) {
    return fail(Code::model_has_no_gears,
                "the model '{}' has no gears; build it with --dynamic_batch_size, "
                "--dynamic_image_size or --dynamic_dims",
                meta.name);
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

// The numbers that a program would see in the buffer: for dims, only the unknown dimensions.
Gear buffer_numbers(const om::Meta& meta, const Gear& gear) {
  if (meta.gear_kind != GearKind::dims) return gear;
  Gear numbers;
  size_t at = 0;
  for (const om::TensorInfo& info : meta.inputs) {
    if (info.role != om::Role::data) continue;
    for (int64_t extent : info.shape) {
      if (extent == kDynamicDim) numbers.push_back(gear[at]);
      ++at;
    }
  }
  return numbers;
}

Status write_gear(const Dataset& dataset, size_t index, const om::Meta& meta, const Gear& gear) {
  const om::TensorInfo& info = meta.inputs[index];
  ANYNPU_ASSIGN(auto buffer, resolve<DataBuffer>(dataset.read()->at(index)),
                "in input {} of the dataset", index);
  const DataBuffer data = *buffer;
  const Gear numbers = buffer_numbers(meta, gear);
  const size_t bytes = numbers.size() * sizeof(int64_t);
  if (data.size < bytes) {
    return fail(Code::parameter_input_size, "input {} ('{}') has a buffer of {} bytes, expected {}",
                index, info.name, data.size, bytes);
  }
  ANYNPU_ASSIGN(auto range,
                device::check_range(data.data, bytes, device::Access::write, info.name.c_str()));
  return device::copy_bytes(range.address, numbers.data(), bytes);
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

Status check_dataset(const Dataset& dataset, GearKind kind) {
  if (dataset.read()->descs.empty()) return {};
  return fail(Code::invalid_argument,
              "the dataset has tensor descriptions; only one of aclmdlSetDatasetTensorDesc and {} "
              "may be used with one model",
              setter_of(kind));
}

Result<size_t> find_gear(const om::Meta& meta, const Gear& gear) {
  const auto found = std::find(meta.gears.begin(), meta.gears.end(), gear);
  if (found != meta.gears.end()) return static_cast<size_t>(found - meta.gears.begin());
  return fail(Code::gear_not_found, "{} is none of the gears of the model '{}'; it has: {}",
              to_string(gear), meta.name, list_gears(meta));
}

// The smallest and largest number that gears give one dynamic extent of an input.
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

Result<std::shared_ptr<const om::Meta>> meta_of(Handle desc) {
  ANYNPU_ASSIGN(auto found, resolve<ModelDesc>(desc));
  return found->meta();
}

}  // namespace

Status set_gear(uint32_t model_id, Handle dataset_handle, size_t index, GearKind kind,
                const Gear& gear) {
  ANYNPU_ASSIGN(auto model, ModelTable::instance().find(model_id));
  ANYNPU_ASSIGN(auto dataset, resolve<Dataset>(dataset_handle));
  const om::Meta& meta = *model->meta;
  ANYNPU_TRY(check_kind(meta, kind));
  if (index >= meta.inputs.size() || meta.inputs[index].role != om::Role::gear) {
    return fail(Code::invalid_argument,
                "index is {}; expected the index of the input 'ascend_mbatch_shape_data', which "
                "aclmdlGetInputIndexByName gives",
                index);
  }
  ANYNPU_TRY(check_dataset(*dataset, kind));
  ANYNPU_ASSIGN(const size_t chosen, find_gear(meta, gear));
  ANYNPU_TRY(check_with_aipp(*model, kind, chosen));
  ANYNPU_TRY(write_gear(*dataset, index, meta, gear));
  dataset->choose_gear({model_id, chosen});
  model->current_gear = chosen;
  return {};
}

Result<NamedShape> current_output_shape(Handle desc, size_t index) {
  ANYNPU_ASSIGN(const DescribedTensor tensor, find_tensor(desc, TensorSide::output, index));
  Shape shape = tensor.info->shape;
  if (tensor.meta->has_gears() && tensor.model_id != 0) {
    ANYNPU_ASSIGN(auto model, ModelTable::instance().find(tensor.model_id));
    const auto& outputs = model->shaped->gear(model->current_gear).outputs();
    if (index < outputs.size()) shape = outputs[index].shape;
  }
  return NamedShape{tensor.short_name(), std::move(shape)};
}

Result<std::vector<Gear>> gears_of(Handle desc, GearKind kind) {
  ANYNPU_ASSIGN(const auto meta, meta_of(desc));
  return meta->gear_kind == kind ? meta->gears : std::vector<Gear>();
}

Result<std::vector<Gear>> dims_gears(Handle desc, size_t room) {
  ANYNPU_ASSIGN(const auto meta, meta_of(desc));
  ANYNPU_ASSIGN(auto gears, gears_of(desc, GearKind::dims));
  if (gears.empty()) {
    return fail(Code::invalid_argument, "the model '{}' has no gears of dims (--dynamic_dims)",
                meta->name);
  }
  if (gears.size() <= room) return gears;
  return fail(Code::invalid_argument, "gearCount is {}, the model has {} gears", room,
              gears.size());
}

Result<DimRanges> input_ranges(Handle desc, size_t index) {
  ANYNPU_ASSIGN(const DescribedTensor tensor, find_tensor(desc, TensorSide::input, index));
  const om::TensorInfo& info = *tensor.info;
  DimRanges found{info.name, info.shape, info.ranges};
  for (size_t i = 0; info.ranges.empty() && i < info.shape.size(); ++i) {
    const bool dynamic = info.shape[i] == kDynamicDim;
    found.ranges.push_back(dynamic ? gear_range(*tensor.meta, index, i)
                                   : om::Range{info.shape[i], info.shape[i]});
  }
  return found;
}

}  // namespace anynpu::service
