// SPDX-License-Identifier: Apache-2.0
// Models with gears: what they are, and choosing one for the next execution with a dataset.
#include <cstring>

#include "acl/mdl/dataset.h"
#include "api/acl/entry.h"
#include "api/acl/model_desc.h"
#include "service/model/gears.h"

namespace anynpu::acl {

namespace {

using om::GearKind;
using service::Gear;

Status store_gears(const std::vector<Gear>& gears, aclmdlBatch* batch) {
  std::memset(batch, 0, sizeof *batch);
  for (const Gear& gear : gears) batch->batch[batch->batchCount++] = static_cast<uint64_t>(gear[0]);
  return {};
}

Status store_gears(const std::vector<Gear>& gears, aclmdlHW* hw) {
  std::memset(hw, 0, sizeof *hw);
  for (const Gear& gear : gears) {
    hw->hw[hw->hwCount][0] = static_cast<uint64_t>(gear[0]);
    hw->hw[hw->hwCount++][1] = static_cast<uint64_t>(gear[1]);
  }
  return {};
}

Status store_gears(const std::vector<Gear>& gears, aclmdlIODims* dims) {
  for (const Gear& gear : gears) ANYNPU_TRY(to_io_dims("", gear, dims++));
  return {};
}

Status store_ranges(const service::DimRanges& found, aclmdlIODimsRange* out) {
  ANYNPU_TRY(check_dim_count(found.name, found.shape));
  std::memset(out, 0, sizeof *out);
  for (const auto& [low, high] : found.ranges) {
    out->range[out->rangeCount][0] = low;
    out->range[out->rangeCount++][1] = high;
  }
  return {};
}

Result<Gear> to_gear(const aclmdlIODims* dims) {
  ANYNPU_TRY(check_pointer(dims, "dims"));
  if (dims->dimCount <= ACL_MAX_DIM_CNT) return Gear(dims->dims, dims->dims + dims->dimCount);
  return fail(Code::invalid_argument, "dimCount is {}; expected at most {}", dims->dimCount,
              ACL_MAX_DIM_CNT);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   uint64_t batchSize) {
  return enter(__func__, [&] {
    const Gear gear{static_cast<int64_t>(batchSize)};
    return service::set_gear(modelId, to_handle(dataset), index, GearKind::batch, gear);
  });
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                uint64_t height, uint64_t width) {
  return enter(__func__, [&] {
    const Gear gear{static_cast<int64_t>(height), static_cast<int64_t>(width)};
    return service::set_gear(modelId, to_handle(dataset), index, GearKind::image, gear);
  });
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   const aclmdlIODims* dims) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const Gear gear, to_gear(dims));
    return service::set_gear(modelId, to_handle(dataset), index, GearKind::dims, gear);
  });
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dims, "dims"));
    ANYNPU_ASSIGN(const auto output, service::current_output_shape(to_handle(modelDesc), index));
    return to_io_dims(output.name, output.shape, dims);
  });
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(batch, "batch"));
    ANYNPU_ASSIGN(const auto gears, service::gears_of(to_handle(modelDesc), GearKind::batch));
    return store_gears(gears, batch);
  });
}

aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t index, aclmdlHW* hw) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(hw, "hw"));
    ANYNPU_ASSIGN(const auto gears, service::gears_of(to_handle(modelDesc), GearKind::image));
    return store_gears(gears, hw);
  });
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t index,
                                        size_t* gearCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(gearCount, "gearCount"));
    ANYNPU_ASSIGN(const auto gears, service::gears_of(to_handle(modelDesc), GearKind::dims));
    *gearCount = gears.size();
    return {};
  });
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims,
                                   size_t gearCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dims, "dims"));
    ANYNPU_ASSIGN(const auto gears, service::dims_gears(to_handle(modelDesc), gearCount));
    return store_gears(gears, dims);
  });
}

aclError aclmdlGetInputDimsRange(const aclmdlDesc* modelDesc, size_t index,
                                 aclmdlIODimsRange* dimsRange) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dimsRange, "dimsRange"));
    ANYNPU_ASSIGN(const auto ranges, service::input_ranges(to_handle(modelDesc), index));
    return store_ranges(ranges, dimsRange);
  });
}

}  // extern "C"
