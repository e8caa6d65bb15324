// SPDX-License-Identifier: Apache-2.0
// AIPP of loaded models: what an input has, and the parameters of dynamic AIPP for the next
// executions with a dataset. They are checked against the model when they are set, and written to
// the buffer of the input ascend_dynamic_aipp_data.
#include <cstring>

#include "acl/mdl/aipp.h"
#include "api/acl/entry.h"
#include "api/acl/model_objects.h"
#include "api/acl/model_table.h"
#include "tensor/data_buffer.h"

namespace anynpu::acl {

namespace {

// The input with the parameters of meta.aipp[which].
size_t parameter_index(const om::Meta& meta, size_t which) {
  size_t data = 0;
  while (data < meta.inputs.size() && meta.inputs[data].role == om::Role::data) ++data;
  return data + which;
}

// What comes out of the first picture, where the model takes any size.
void fill_open(const AippSet& set, Shape& shape) {
  const ops::AippBatch& first = set.batches[0];
  int64_t width = first.crop ? first.crop_w : set.header.source_w;
  int64_t height = first.crop ? first.crop_h : set.header.source_h;
  if (first.scale) width = first.scale_out_w, height = first.scale_out_h;
  if (first.padding) {
    width += int64_t{first.pad_left} + first.pad_right;
    height += int64_t{first.pad_top} + first.pad_bottom;
  }
  if (shape[0] == kDynamicDim) shape[0] = static_cast<int64_t>(set.batches.size());
  if (shape[2] == kDynamicDim) shape[2] = height;
  if (shape[3] == kDynamicDim) shape[3] = width;
}

// The shape of the model's input in the largest gear, or as the parameters make it: N, C, H, W.
Shape largest_shape(const Model& model, const om::Aipp& aipp, const AippSet& set) {
  const om::Meta& meta = *model.meta;
  Shape shape = aipp.shape;
  if (meta.has_ranges() && !set.batches.empty()) fill_open(set, shape);
  if (!meta.has_gears()) return shape;
  const auto& gear = meta.gears[model.shaped->largest_gear()];
  size_t used = 0;
  for (int64_t& extent : shape) {
    if (extent == kDynamicDim && used < gear.size()) extent = gear[used++];
  }
  return shape;
}

Status check_with_gears(const om::Meta& meta, const AippSet& set, const Shape& shape) {
  if (meta.gear_kind != om::GearKind::image) return {};
  for (const ops::AippBatch& batch : set.batches) {
    if (batch.crop || batch.scale || batch.padding) {
      return fail(
          Code::invalid_argument,
          "crop, scaling or padding is on, and the model '{}' has gears of image size; they "
          "exclude each other",
          meta.name);
    }
  }
  if (set.header.source_w == shape[3] && set.header.source_h == shape[2]) return {};
  return fail(Code::invalid_argument,
              "the source image is {}x{} (width x height), the largest gear of the model '{}' is "
              "{}x{}; expected the same",
              set.header.source_w, set.header.source_h, meta.name, shape[3], shape[2]);
}

// Guide 7.6.2: what comes out lies in the ranges of --input_shape.
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

Status check_set(const Model& model, const om::Aipp& aipp, const AippSet& set, Shape& picture) {
  const om::Meta& meta = *model.meta;
  const Shape shape = largest_shape(model, aipp, set);
  picture = {shape[0], shape[2], shape[3], shape[1]};
  if (set.header.source_w == 0) {
    return fail(Code::bad_call_order,
                "the size of the source image is not set; call aclmdlSetAIPPSrcImageSize first");
  }
  if (static_cast<int64_t>(set.batches.size()) != shape[0]) {
    return fail(Code::invalid_argument,
                "the parameters are for {} pictures, the (largest) batch of the model '{}' is {}; "
                "pass that to aclmdlCreateAIPP",
                set.batches.size(), meta.name, shape[0]);
  }
  ANYNPU_TRY(check_with_gears(meta, set, shape));
  ANYNPU_TRY(check_with_ranges(meta, aipp, picture));
  for (size_t i = 0; i < set.batches.size(); ++i) {
    Status status = ops::check_aipp(set.header, set.batches[i], shape[1], shape[2], shape[3]);
    if (!status.ok()) return status.with_note(format("picture {} of the batch", i));
  }
  const int64_t bytes =
      shape[0] * ops::picture_bytes(static_cast<ops::AippFormat>(set.header.format),
                                    set.header.source_w, set.header.source_h);
  if (bytes <= aipp.max_source_bytes) return {};
  return fail(Code::invalid_argument,
              "{} pictures take {} bytes, max_src_image_size of the model '{}' is {}", shape[0],
              bytes, meta.name, aipp.max_source_bytes);
}

Failure write_set(Dataset& dataset, size_t index, const AippSet& set) {
  auto buffer = resolve<DataBuffer>(dataset.read()->at(index));
  if (!buffer.ok()) return buffer.status().with_note(format("in input {} of the dataset", index));
  const DataBuffer data = **buffer;
  const size_t bytes = ops::aipp_bytes(set.batches.size());
  if (data.size < bytes) {
    return {ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID,
            fail(Code::shape_mismatch, "input {} has a buffer of {} bytes, expected {}", index,
                 data.size, bytes)};
  }
  auto range = device::check_range(data.data, bytes, device::Access::write, "the AIPP input");
  if (!range.ok()) return range.status();
  auto* target = reinterpret_cast<std::byte*>(range->address);
  std::memcpy(target, &set.header, sizeof set.header);
  std::memcpy(target + sizeof set.header, set.batches.data(),
              set.batches.size() * sizeof(ops::AippBatch));
  return {};
}

// `by_data`: index is that of the pictures; else that of the parameters.
Failure set_aipp(uint32_t id, aclmdlDataset* dataset_handle, size_t index,
                 const aclmdlAIPP* aipp_handle, bool by_data) {
  auto model = ModelTable::instance().find(id);
  if (!model.ok()) return model.status();
  auto dataset = resolve<Dataset>(to_handle(dataset_handle));
  if (!dataset.ok()) return dataset.status();
  auto set = resolve<AippSet>(to_handle(aipp_handle));
  if (!set.ok()) return set.status();
  const om::Meta& meta = *(*model)->meta;
  for (size_t i = 0; i < meta.aipp.size(); ++i) {
    const om::Aipp& aipp = meta.aipp[i];
    const size_t parameters = parameter_index(meta, i);
    if (!aipp.dynamic || (by_data ? aipp.input : parameters) != index) continue;
    const std::lock_guard lock((*set)->mutex);
    Shape picture;
    if (Status status = check_set(**model, aipp, **set, picture); !status.ok()) return status;
    if (Failure failure = write_set(**dataset, parameters, **set); !failure.ok()) return failure;
    (*dataset)->mark_aipp({id, parameters, picture});
    return {};
  }
  return {
      ACL_ERROR_GE_AIPP_NOT_EXIST,
      fail(Code::invalid_argument, "input {} of the model '{}' {}; find the index with {}", index,
           meta.name, by_data ? "has no dynamic AIPP" : "holds no parameters of dynamic AIPP",
           by_data ? "aclmdlGetAippType" : "aclmdlGetInputIndexByName")};
}

Status check_index(const om::Meta& meta, size_t index) {
  if (index < meta.inputs.size()) return {};
  return fail(Code::invalid_argument, "index is {}, the model '{}' has {} inputs; expected less",
              index, meta.name, meta.inputs.size());
}

Status find_type(uint32_t id, size_t index, aclmdlInputAippType* type, size_t* attached) {
  ANYNPU_TRY(check_pointer(type, "type"));
  ANYNPU_TRY(check_pointer(attached, "dynamicAttachedDataIndex"));
  ANYNPU_ASSIGN(auto model, ModelTable::instance().find(id));
  const om::Meta& meta = *model->meta;
  ANYNPU_TRY(check_index(meta, index));
  *type = meta.inputs[index].role == om::Role::aipp ? ACL_DYNAMIC_AIPP_NODE : ACL_DATA_WITHOUT_AIPP;
  *attached = ACL_INVALID_NODE_INDEX;
  for (size_t i = 0; i < meta.aipp.size(); ++i) {
    if (meta.aipp[i].input != index) continue;
    *type = meta.aipp[i].dynamic ? ACL_DATA_WITH_DYNAMIC_AIPP : ACL_DATA_WITH_STATIC_AIPP;
    if (meta.aipp[i].dynamic) *attached = parameter_index(meta, i);
  }
  return {};
}

void fill_dims(const std::string& name, const Shape& shape, aclmdlIODims& dims) {
  std::memcpy(dims.name, name.data(), std::min<size_t>(name.size(), sizeof dims.name - 1));
  dims.dimCount = shape.size();
  std::copy(shape.begin(), shape.end(), dims.dims);
}

void fill_info(const om::Aipp& aipp, aclAippInfo& info) {
  ops::AippHeader header;
  ops::AippBatch batch;
  std::memcpy(&header, aipp.parameters.data(), sizeof header);
  std::memcpy(&batch, aipp.parameters.data() + sizeof header, sizeof batch);
  info.inputFormat = static_cast<aclAippInputFormat>(header.format);
  info.srcImageSizeW = header.source_w;
  info.srcImageSizeH = header.source_h;
  info.cropSwitch = batch.crop;
  info.loadStartPosW = batch.crop_x;
  info.loadStartPosH = batch.crop_y;
  info.cropSizeW = batch.crop_w;
  info.cropSizeH = batch.crop_h;
  info.paddingSwitch = batch.padding;
  info.leftPaddingSize = batch.pad_left;
  info.rightPaddingSize = batch.pad_right;
  info.topPaddingSize = batch.pad_top;
  info.bottomPaddingSize = batch.pad_bottom;
  info.cscSwitch = header.csc;
  info.rbuvSwapSwitch = header.rbuv_swap;
  info.axSwapSwitch = header.ax_swap;
  int32_t* matrix[] = {&info.matrixR0C0, &info.matrixR0C1, &info.matrixR0C2,
                       &info.matrixR1C0, &info.matrixR1C1, &info.matrixR1C2,
                       &info.matrixR2C0, &info.matrixR2C1, &info.matrixR2C2};
  for (size_t i = 0; i < 9; ++i) *matrix[i] = header.matrix[i];
  int32_t* output[] = {&info.outputBias0, &info.outputBias1, &info.outputBias2};
  int32_t* input[] = {&info.inputBias0, &info.inputBias1, &info.inputBias2};
  for (size_t i = 0; i < 3; ++i) {
    *output[i] = header.output_bias[i];
    *input[i] = header.input_bias[i];
  }
  int32_t* mean[] = {&info.meanChn0, &info.meanChn1, &info.meanChn2, &info.meanChn3};
  float* low[] = {&info.minChn0, &info.minChn1, &info.minChn2, &info.minChn3};
  float* variance[] = {&info.varReciChn0, &info.varReciChn1, &info.varReciChn2, &info.varReciChn3};
  for (size_t i = 0; i < 4; ++i) {
    *mean[i] = batch.mean[i];
    *low[i] = batch.min_of(i);
    *variance[i] = batch.variance_of(i);
  }
}

Failure first_info(uint32_t id, size_t index, aclAippInfo* info) {
  if (Status status = check_pointer(info, "aippInfo"); !status.ok()) return status;
  auto model = ModelTable::instance().find(id);
  if (!model.ok()) return model.status();
  const om::Meta& meta = *(*model)->meta;
  if (Status status = check_index(meta, index); !status.ok()) return status;
  for (const om::Aipp& aipp : meta.aipp) {
    if (aipp.input != index || aipp.dynamic) continue;
    std::memset(info, 0, sizeof *info);
    fill_info(aipp, *info);
    info->srcFormat = aipp.nhwc ? ACL_FORMAT_NHWC : ACL_FORMAT_NCHW;
    info->srcDatatype = static_cast<aclDataType>(aipp.dtype);
    info->srcDimNum = aipp.shape.size();
    const size_t gears = std::max<size_t>(meta.gears.size(), 1);
    info->shapeCount = gears;
    for (size_t g = 0; g < gears; ++g) {
      // The size of a model whose shapes come at run time is 0, as everywhere.
      const bool ranged = (*model)->shaped->has_ranges();
      const size_t bytes =
          ranged ? meta.inputs[index].size : (*model)->shaped->gear(g).inputs()[index].bytes;
      const std::string& name = meta.inputs[index].name;
      Shape shape = aipp.shape;
      size_t used = 0;
      for (int64_t& extent : shape) {
        if (ranged) break;
        if (extent == kDynamicDim && used < meta.gears[g].size()) extent = meta.gears[g][used++];
      }
      aclAippDims& dims = info->outDims[g];
      const Shape& told = meta.inputs[index].shape;
      fill_dims(
          name,
          {shape[0], told[1] < 0 ? shape[2] : told[1], told[2] < 0 ? shape[3] : told[2], shape[1]},
          dims.srcDims);
      dims.srcSize = bytes;
      fill_dims(name, shape, dims.aippOutdims);
      const int64_t count = element_count(shape);
      dims.aippOutSize = count < 0 ? 0 : bytes_of(aipp.dtype, static_cast<size_t>(count));
    }
    return {};
  }
  return {ACL_ERROR_NOT_STATIC_AIPP,
          fail(Code::invalid_argument, "input {} of the model '{}' has no static AIPP", index,
               meta.name)};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclmdlSetInputAIPP(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                            const aclmdlAIPP* aippParmsSet) {
  return enter(__func__, [&] { return set_aipp(modelId, dataset, index, aippParmsSet, false); });
}

aclError aclmdlSetAIPPByInputIndex(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   const aclmdlAIPP* aippParmsSet) {
  return enter(__func__, [&] { return set_aipp(modelId, dataset, index, aippParmsSet, true); });
}

aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType* type,
                           size_t* dynamicAttachedDataIndex) {
  return enter(__func__, [&] { return find_type(modelId, index, type, dynamicAttachedDataIndex); });
}

aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo* aippInfo) {
  return enter(__func__, [&] { return first_info(modelId, index, aippInfo); });
}

}  // extern "C"
