// SPDX-License-Identifier: Apache-2.0
#include "service/model/aipp.h"

#include <algorithm>
#include <cstring>

#include "device/host_view.h"
#include "device/memory.h"
#include "service/model/aipp_parameters.h"
#include "service/model/dataset.h"
#include "service/model/model_table.h"
#include "tensor/data_buffer.h"

namespace anynpu::service {

namespace {

using AippValues = AippParameters::Values;

// What comes out of the first picture, where the model takes any size.
void fill_open(const AippValues& values, Shape& shape) {
  const ops::AippBatch& first = values.pictures[0];
  int64_t width = first.crop ? first.crop_w : values.header.source_w;
  int64_t height = first.crop ? first.crop_h : values.header.source_h;
  if (first.scale) width = first.scale_out_w, height = first.scale_out_h;
  if (first.padding) {
    width += int64_t{first.pad_left} + first.pad_right;
    height += int64_t{first.pad_top} + first.pad_bottom;
  }
  if (shape[0] == kDynamicDim) shape[0] = static_cast<int64_t>(values.pictures.size());
  if (shape[2] == kDynamicDim) shape[2] = height;
  if (shape[3] == kDynamicDim) shape[3] = width;
}

// The shape of the model's input in the largest gear, or as the parameters make it: N, C, H, W.
Shape largest_shape(const Model& model, const om::Aipp& aipp, const AippValues& values) {
  const om::Meta& meta = *model.meta;
  Shape shape = aipp.shape;
  if (meta.has_ranges() && !values.pictures.empty()) fill_open(values, shape);
  if (!meta.has_gears()) return shape;
  const auto& gear = meta.gears[model.shaped->largest_gear()];
  size_t used = 0;
  for (int64_t& extent : shape) {
    if (extent == kDynamicDim && used < gear.size()) extent = gear[used++];
  }
  return shape;
}

int64_t picture_bytes(const AippValues& values) {
  return ops::picture_bytes(static_cast<ops::AippFormat>(values.header.format),
                            values.header.source_w, values.header.source_h);
}

Status check_with_gears(const om::Meta& meta, const AippValues& values, const Shape& shape) {
  if (meta.gear_kind != om::GearKind::image) return {};
  for (const ops::AippBatch& batch : values.pictures) {
    if (batch.crop || batch.scale || batch.padding) {
      return fail(
          Code::invalid_argument,
          "crop, scaling or padding is on, and the model '{}' has gears of image size; they "
          "exclude each other",
          meta.name);
    }
  }
  if (values.header.source_w == shape[3] && values.header.source_h == shape[2]) return {};
  return fail(Code::invalid_argument,
              "the source image is {}x{} (width x height), the largest gear of the model '{}' is "
              "{}x{}; expected the same",
              values.header.source_w, values.header.source_h, meta.name, shape[3], shape[2]);
}

// Guide 7.6.2: the output must be within the ranges of --input_shape.
Status check_with_ranges(const om::Meta& meta, const om::Aipp& aipp, const Shape& picture) {
  const om::TensorInfo& info = meta.inputs[aipp.input];
  for (size_t i = 0; i < info.ranges.size() && i < picture.size(); ++i) {
    const auto [low, high] = info.ranges[i];
    if (picture[i] >= low && (high < 0 || picture[i] <= high)) continue;
    constexpr const char* kAxes[] = {"batch", "height", "width", "channels"};
    return fail(Code::invalid_argument,
                "AIPP makes pictures of the shape {} (N, H, W, C), the model '{}' was compiled for "
                "a {} of {} to {}; change the crop, scaling or padding",
                to_string(picture), meta.name, kAxes[i], low,
                high < 0 ? std::string("any") : format("{}", high));
  }
  return {};
}

Status check_values(const Model& model, const om::Aipp& aipp, const AippValues& values,
                    Shape& picture) {
  const om::Meta& meta = *model.meta;
  const Shape shape = largest_shape(model, aipp, values);
  picture = {shape[0], shape[2], shape[3], shape[1]};
  if (values.header.source_w == 0) {
    return fail(Code::bad_call_order,
                "the size of the source image is not set; call aclmdlSetAIPPSrcImageSize first");
  }
  if (static_cast<int64_t>(values.pictures.size()) != shape[0]) {
    return fail(Code::invalid_argument,
                "the parameters are for {} pictures, the (largest) batch of the model '{}' is {}; "
                "pass that to aclmdlCreateAIPP",
                values.pictures.size(), meta.name, shape[0]);
  }
  ANYNPU_TRY(check_with_gears(meta, values, shape));
  ANYNPU_TRY(check_with_ranges(meta, aipp, picture));
  for (size_t i = 0; i < values.pictures.size(); ++i) {
    Status status =
        ops::check_aipp(values.header, values.pictures[i], shape[1], shape[2], shape[3]);
    if (!status.ok()) return status.with_note(format("picture {} of the batch", i));
  }
  // One picture must fit. Whether as many as the gear has fit too shows when the model runs: it
  // may be a small gear.
  const int64_t bytes = picture_bytes(values);
  if (bytes <= aipp.max_source_bytes) return {};
  return fail(Code::invalid_argument,
              "a picture takes {} bytes, max_src_image_size of the model '{}' is {}", bytes,
              meta.name, aipp.max_source_bytes);
}

Status write_values(const Dataset& dataset, size_t index, const AippValues& values) {
  ANYNPU_ASSIGN(auto buffer, resolve<DataBuffer>(dataset.read()->at(index)),
                "in input {} of the dataset", index);
  const DataBuffer data = *buffer;
  const size_t bytes = ops::aipp_bytes(values.pictures.size());
  if (data.size < bytes) {
    return fail(Code::parameter_input_size, "input {} has a buffer of {} bytes, expected {}", index,
                data.size, bytes);
  }
  ANYNPU_ASSIGN(auto range,
                device::check_range(data.data, bytes, device::Access::write, "the AIPP input"));
  auto* target = reinterpret_cast<std::byte*>(range.address);
  ANYNPU_TRY(device::copy_bytes(target, &values.header, sizeof values.header));
  return device::copy_bytes(target + sizeof values.header, values.pictures.data(),
                            values.pictures.size() * sizeof(ops::AippBatch));
}

Status check_input(const om::Meta& meta, size_t index) {
  if (index < meta.inputs.size()) return {};
  return fail(Code::invalid_argument, "index is {}, the model '{}' has {} inputs; expected less",
              index, meta.name, meta.inputs.size());
}

// The shape that AIPP makes in one gear: N, C, H, W.
Shape shape_in_gear(const om::Aipp& aipp, const std::vector<int64_t>& gear) {
  Shape shape = aipp.shape;
  size_t used = 0;
  for (int64_t& extent : shape) {
    if (extent == kDynamicDim && used < gear.size()) extent = gear[used++];
  }
  return shape;
}

FixedAipp::GearShapes shapes_in_gear(const Model& model, const om::Aipp& aipp, size_t gear) {
  const om::Meta& meta = *model.meta;
  const om::TensorInfo& input = meta.inputs[aipp.input];
  // The size of a model whose shapes come at run time is 0, as everywhere.
  const bool ranged = model.shaped->has_ranges();
  FixedAipp::GearShapes shapes;
  shapes.output = ranged || meta.gears.empty() ? aipp.shape : shape_in_gear(aipp, meta.gears[gear]);
  shapes.picture_bytes = ranged ? input.size : model.shaped->gear(gear).inputs()[aipp.input].bytes;
  const Shape &stated = input.shape, &made = shapes.output;
  shapes.picture = {made[0], stated[1] < 0 ? made[2] : stated[1],
                    stated[2] < 0 ? made[3] : stated[2], made[1]};
  const int64_t count = element_count(made);
  shapes.output_bytes = count < 0 ? 0 : bytes_of(aipp.dtype, static_cast<size_t>(count));
  return shapes;
}

}  // namespace

size_t aipp_parameter_index(const om::Meta& meta, size_t which) {
  for (size_t i = 0; i < meta.inputs.size(); ++i) {
    if (meta.inputs[i].role == om::Role::aipp && which-- == 0) return i;
  }
  return meta.inputs.size();
}

int64_t aipp_batch(const om::Meta& meta, const om::Aipp& aipp, size_t gear) {
  return meta.has_gears() ? shape_in_gear(aipp, meta.gears[gear])[0] : aipp.shape[0];
}

Status set_aipp(uint32_t model_id, Handle dataset_handle, AippIndex kind, size_t index,
                Handle parameters_handle) {
  ANYNPU_ASSIGN(auto model, ModelTable::instance().find(model_id));
  ANYNPU_ASSIGN(auto dataset, resolve<Dataset>(dataset_handle));
  ANYNPU_ASSIGN(auto parameters, resolve<AippParameters>(parameters_handle));
  const om::Meta& meta = *model->meta;
  const bool by_pictures = kind == AippIndex::pictures;
  for (size_t i = 0; i < meta.aipp.size(); ++i) {
    const om::Aipp& aipp = meta.aipp[i];
    const size_t parameter_index = aipp_parameter_index(meta, i);
    if (!aipp.dynamic || (by_pictures ? aipp.input : parameter_index) != index) continue;
    return parameters->read([&](const AippValues& values) -> Status {
      Shape picture;
      ANYNPU_TRY(check_values(*model, aipp, values, picture));
      ANYNPU_TRY(write_values(*dataset, parameter_index, values));
      dataset->choose_aipp({model_id, parameter_index, picture, picture_bytes(values)});
      return {};
    });
  }
  return fail(Code::no_dynamic_aipp, "input {} of the model '{}' {}; find the index with {}", index,
              meta.name,
              by_pictures ? "has no dynamic AIPP" : "holds no parameters of dynamic AIPP",
              by_pictures ? "aclmdlGetAippType" : "aclmdlGetInputIndexByName");
}

Result<AippOfInput> aipp_of_input(uint32_t model_id, size_t index) {
  ANYNPU_ASSIGN(auto model, ModelTable::instance().find(model_id));
  const om::Meta& meta = *model->meta;
  ANYNPU_TRY(check_input(meta, index));
  AippOfInput found;
  if (meta.inputs[index].role == om::Role::aipp) found.kind = AippKind::parameters;
  for (size_t i = 0; i < meta.aipp.size(); ++i) {
    if (meta.aipp[i].input != index) continue;
    found.kind = meta.aipp[i].dynamic ? AippKind::dynamic : AippKind::fixed;
    if (meta.aipp[i].dynamic) found.parameter_index = aipp_parameter_index(meta, i);
  }
  return found;
}

Result<FixedAipp> fixed_aipp_of_input(uint32_t model_id, size_t index) {
  ANYNPU_ASSIGN(auto model, ModelTable::instance().find(model_id));
  const om::Meta& meta = *model->meta;
  ANYNPU_TRY(check_input(meta, index));
  const auto aipp = std::find_if(meta.aipp.begin(), meta.aipp.end(), [&](const om::Aipp& one) {
    return one.input == index && !one.dynamic;
  });
  if (aipp == meta.aipp.end()) {
    return fail(Code::no_static_aipp, "input {} of the model '{}' has no static AIPP", index,
                meta.name);
  }
  FixedAipp found;
  found.input_name = meta.inputs[index].name;
  std::memcpy(&found.header, aipp->parameters.data(), sizeof found.header);
  std::memcpy(&found.parameters, aipp->parameters.data() + sizeof found.header,
              sizeof found.parameters);
  found.nhwc = aipp->nhwc;
  found.dtype = aipp->dtype;
  const size_t gears = std::max<size_t>(meta.gears.size(), 1);
  for (size_t gear = 0; gear < gears; ++gear)
    found.gears.push_back(shapes_in_gear(*model, *aipp, gear));
  return found;
}

}  // namespace anynpu::service
