// SPDX-License-Identifier: Apache-2.0
// AIPP of loaded models: what an input has, and the parameters of dynamic AIPP for the next
// executions with a dataset.
#include <cstring>

#include "acl/mdl/aipp.h"
#include "api/acl/entry.h"
#include "api/acl/model_desc.h"
#include "service/model/aipp.h"

namespace anynpu::acl {

namespace {

using service::AippIndex;
using service::AippKind;

aclmdlInputAippType type_of(AippKind kind) {
  switch (kind) {
    case AippKind::fixed:
      return ACL_DATA_WITH_STATIC_AIPP;
    case AippKind::dynamic:
      return ACL_DATA_WITH_DYNAMIC_AIPP;
    case AippKind::parameters:
      return ACL_DYNAMIC_AIPP_NODE;
    default:
      return ACL_DATA_WITHOUT_AIPP;
  }
}

void store_header(const ops::AippHeader& header, aclAippInfo& info) {
  info.inputFormat = static_cast<aclAippInputFormat>(header.format);
  info.srcImageSizeW = header.source_w;
  info.srcImageSizeH = header.source_h;
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
}

void store_parameters(const ops::AippBatch& batch, aclAippInfo& info) {
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
  int32_t* mean[] = {&info.meanChn0, &info.meanChn1, &info.meanChn2, &info.meanChn3};
  float* low[] = {&info.minChn0, &info.minChn1, &info.minChn2, &info.minChn3};
  float* variance[] = {&info.varReciChn0, &info.varReciChn1, &info.varReciChn2, &info.varReciChn3};
  for (size_t i = 0; i < 4; ++i) {
    *mean[i] = batch.mean[i];
    *low[i] = batch.min_of(i);
    *variance[i] = batch.variance_of(i);
  }
}

Status store_shapes(const service::FixedAipp& aipp, aclAippInfo& info) {
  info.srcDimNum = aipp.gears[0].output.size();
  info.shapeCount = aipp.gears.size();
  for (size_t i = 0; i < aipp.gears.size(); ++i) {
    const auto& shapes = aipp.gears[i];
    aclAippDims& dims = info.outDims[i];
    ANYNPU_TRY(to_io_dims(aipp.input_name, shapes.picture, &dims.srcDims));
    ANYNPU_TRY(to_io_dims(aipp.input_name, shapes.output, &dims.aippOutdims));
    dims.srcSize = shapes.picture_bytes;
    dims.aippOutSize = shapes.output_bytes;
  }
  return {};
}

Status store_info(const service::FixedAipp& aipp, aclAippInfo* info) {
  std::memset(info, 0, sizeof *info);
  store_header(aipp.header, *info);
  store_parameters(aipp.parameters, *info);
  info->srcFormat = aipp.nhwc ? ACL_FORMAT_NHWC : ACL_FORMAT_NCHW;
  info->srcDatatype = static_cast<aclDataType>(aipp.dtype);
  return store_shapes(aipp, *info);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclmdlSetInputAIPP(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                            const aclmdlAIPP* aippParmsSet) {
  return enter(__func__, [&] {
    return service::set_aipp(modelId, to_handle(dataset), AippIndex::parameters, index,
                             to_handle(aippParmsSet));
  });
}

aclError aclmdlSetAIPPByInputIndex(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   const aclmdlAIPP* aippParmsSet) {
  return enter(__func__, [&] {
    return service::set_aipp(modelId, to_handle(dataset), AippIndex::pictures, index,
                             to_handle(aippParmsSet));
  });
}

aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType* type,
                           size_t* dynamicAttachedDataIndex) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(type, "type"));
    ANYNPU_TRY(check_pointer(dynamicAttachedDataIndex, "dynamicAttachedDataIndex"));
    ANYNPU_ASSIGN(const auto aipp, service::aipp_of_input(modelId, index));
    *type = type_of(aipp.kind);
    *dynamicAttachedDataIndex = aipp.parameter_index.value_or(ACL_INVALID_NODE_INDEX);
    return {};
  });
}

aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo* aippInfo) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(aippInfo, "aippInfo"));
    ANYNPU_ASSIGN(const auto aipp, service::fixed_aipp_of_input(modelId, index));
    return store_info(aipp, aippInfo);
  });
}

}  // extern "C"
