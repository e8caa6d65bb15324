// SPDX-License-Identifier: Apache-2.0
// aclmdlAIPP: the parameters of dynamic AIPP, picture by picture. What it means for a model is in
// model_aipp_use.cpp.
#include <cmath>

#include "acl/mdl/aipp.h"
#include "api/acl/entry.h"
#include "api/acl/model_objects.h"

namespace anynpu::acl {

namespace {

Status check_batch_count(uint64_t count) {
  if (count >= 1 && count <= ops::kMostAippPictures) return {};
  return fail(Code::invalid_argument, "batchSize is {}; expected 1 to {}", count,
              ops::kMostAippPictures);
}

Status check_switch(int8_t value, const char* name) {
  if (value == 0 || value == 1) return {};
  return fail(Code::invalid_argument, "{} is {}; expected 0 or 1", name, static_cast<int>(value));
}

Status check_within(int64_t value, int64_t low, int64_t high, const char* name) {
  if (value >= low && value <= high) return {};
  return fail(Code::invalid_argument, "{} is {}; expected {} to {}", name, value, low, high);
}

// Runs `body` on the set while no other thread changes it.
template <typename Body>
aclError change(const char* function, aclmdlAIPP* handle, Body&& body) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto set, resolve<AippSet>(to_handle(handle)));
    const std::lock_guard lock(set->mutex);
    return body(*set);
  });
}

// The same for one picture of the batch.
template <typename Body>
aclError change_batch(const char* function, aclmdlAIPP* handle, uint64_t index, Body&& body) {
  return change(function, handle, [&](AippSet& set) -> Status {
    if (index >= set.batches.size()) {
      return fail(Code::invalid_argument,
                  "batchIndex is {}, the parameters are for {} pictures; expected 0 to {}", index,
                  set.batches.size(), set.batches.size() - 1);
    }
    return body(set.batches[index]);
  });
}

Status check_numbers(std::initializer_list<float> values, const char* name) {
  for (float value : values) {
    if (std::isfinite(value) && std::abs(value) <= 65504) continue;
    return fail(Code::invalid_argument, "{} has the value {}; expected -65504 to 65504", name,
                value);
  }
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclmdlAIPP* aclmdlCreateAIPP(uint64_t batchSize) {
  return enter_value(__func__, static_cast<aclmdlAIPP*>(nullptr), [&]() -> Result<aclmdlAIPP*> {
    ANYNPU_TRY(check_batch_count(batchSize));
    return insert_object<aclmdlAIPP*>(std::make_shared<AippSet>(batchSize));
  });
}

aclError aclmdlDestroyAIPP(const aclmdlAIPP* aippParmsSet) {
  return enter<When::before_init>(__func__,
                                  [&]() -> Status { return remove_object<AippSet>(aippParmsSet); });
}

aclError aclmdlGetAippDataSize(uint64_t batchSize, size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(size, "size"));
    ANYNPU_TRY(check_batch_count(batchSize));
    *size = ops::aipp_bytes(batchSize);
    return {};
  });
}

aclError aclmdlSetAIPPInputFormat(aclmdlAIPP* aippParmsSet, aclAippInputFormat inputFormat) {
  return change(__func__, aippParmsSet, [&](AippSet& set) -> Status {
    const bool known = inputFormat > 0 && inputFormat < 256 &&
                       ops::channels_of(static_cast<ops::AippFormat>(inputFormat)) > 0;
    if (!known) {
      return fail(Code::invalid_argument, "inputFormat is {}; expected 1 to 4 or 7 to 10",
                  static_cast<int>(inputFormat));
    }
    set.header.format = static_cast<uint8_t>(inputFormat);
    return {};
  });
}

aclError aclmdlSetAIPPCscParams(aclmdlAIPP* aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
                                int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0,
                                int16_t cscMatrixR1C1, int16_t cscMatrixR1C2, int16_t cscMatrixR2C0,
                                int16_t cscMatrixR2C1, int16_t cscMatrixR2C2,
                                uint8_t cscOutputBiasR0, uint8_t cscOutputBiasR1,
                                uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0,
                                uint8_t cscInputBiasR1, uint8_t cscInputBiasR2) {
  return change(__func__, aippParmsSet, [&](AippSet& set) -> Status {
    ANYNPU_TRY(check_switch(cscSwitch, "cscSwitch"));
    const int16_t matrix[] = {cscMatrixR0C0, cscMatrixR0C1, cscMatrixR0C2,
                              cscMatrixR1C0, cscMatrixR1C1, cscMatrixR1C2,
                              cscMatrixR2C0, cscMatrixR2C1, cscMatrixR2C2};
    const uint8_t output[] = {cscOutputBiasR0, cscOutputBiasR1, cscOutputBiasR2};
    const uint8_t input[] = {cscInputBiasR0, cscInputBiasR1, cscInputBiasR2};
    set.header.csc = cscSwitch;
    std::copy(std::begin(matrix), std::end(matrix), set.header.matrix);
    std::copy(std::begin(output), std::end(output), set.header.output_bias);
    std::copy(std::begin(input), std::end(input), set.header.input_bias);
    return {};
  });
}

aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP* aippParmsSet, int8_t rbuvSwapSwitch) {
  return change(__func__, aippParmsSet, [&](AippSet& set) -> Status {
    ANYNPU_TRY(check_switch(rbuvSwapSwitch, "rbuvSwapSwitch"));
    set.header.rbuv_swap = rbuvSwapSwitch;
    return {};
  });
}

aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP* aippParmsSet, int8_t axSwapSwitch) {
  return change(__func__, aippParmsSet, [&](AippSet& set) -> Status {
    ANYNPU_TRY(check_switch(axSwapSwitch, "axSwapSwitch"));
    set.header.ax_swap = axSwapSwitch;
    return {};
  });
}

aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP* aippParmsSet, int32_t srcImageSizeW,
                                   int32_t srcImageSizeH) {
  return change(__func__, aippParmsSet, [&](AippSet& set) -> Status {
    ANYNPU_TRY(check_within(srcImageSizeW, 2, 4096, "srcImageSizeW"));
    ANYNPU_TRY(check_within(srcImageSizeH, 1, 4096, "srcImageSizeH"));
    set.header.source_w = srcImageSizeW;
    set.header.source_h = srcImageSizeH;
    return {};
  });
}

aclError aclmdlSetAIPPScfParams(aclmdlAIPP* aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
                                int32_t scfInputSizeH, int32_t scfOutputSizeW,
                                int32_t scfOutputSizeH, uint64_t batchIndex) {
  return change_batch(__func__, aippParmsSet, batchIndex, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_switch(scfSwitch, "scfSwitch"));
    const int64_t low = scfSwitch ? 1 : 0;
    ANYNPU_TRY(check_within(scfInputSizeW, low, 4096, "scfInputSizeW"));
    ANYNPU_TRY(check_within(scfInputSizeH, low, 4096, "scfInputSizeH"));
    ANYNPU_TRY(check_within(scfOutputSizeW, low, 4096, "scfOutputSizeW"));
    ANYNPU_TRY(check_within(scfOutputSizeH, low, 4096, "scfOutputSizeH"));
    batch.scale = scfSwitch;
    batch.scale_in_w = scfInputSizeW;
    batch.scale_in_h = scfInputSizeH;
    batch.scale_out_w = scfOutputSizeW;
    batch.scale_out_h = scfOutputSizeH;
    return {};
  });
}

aclError aclmdlSetAIPPCropParams(aclmdlAIPP* aippParmsSet, int8_t cropSwitch, int32_t cropStartPosW,
                                 int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH,
                                 uint64_t batchIndex) {
  return change_batch(__func__, aippParmsSet, batchIndex, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_switch(cropSwitch, "cropSwitch"));
    ANYNPU_TRY(check_within(cropStartPosW, 0, 4095, "cropStartPosW"));
    ANYNPU_TRY(check_within(cropStartPosH, 0, 4095, "cropStartPosH"));
    ANYNPU_TRY(check_within(cropSizeW, cropSwitch, 4096, "cropSizeW"));
    ANYNPU_TRY(check_within(cropSizeH, cropSwitch, 4096, "cropSizeH"));
    batch.crop = cropSwitch;
    batch.crop_x = cropStartPosW;
    batch.crop_y = cropStartPosH;
    batch.crop_w = cropSizeW;
    batch.crop_h = cropSizeH;
    return {};
  });
}

aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP* aippParmsSet, int8_t paddingSwitch,
                                    int32_t paddingSizeTop, int32_t paddingSizeBottom,
                                    int32_t paddingSizeLeft, int32_t paddingSizeRight,
                                    uint64_t batchIndex) {
  return change_batch(__func__, aippParmsSet, batchIndex, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_switch(paddingSwitch, "paddingSwitch"));
    ANYNPU_TRY(check_within(paddingSizeTop, 0, 32, "paddingSizeTop"));
    ANYNPU_TRY(check_within(paddingSizeBottom, 0, 32, "paddingSizeBottom"));
    ANYNPU_TRY(check_within(paddingSizeLeft, 0, 32, "paddingSizeLeft"));
    ANYNPU_TRY(check_within(paddingSizeRight, 0, 32, "paddingSizeRight"));
    batch.padding = paddingSwitch;
    batch.pad_top = paddingSizeTop;
    batch.pad_bottom = paddingSizeBottom;
    batch.pad_left = paddingSizeLeft;
    batch.pad_right = paddingSizeRight;
    return {};
  });
}

aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP* aippParmsSet, int16_t dtcPixelMeanChn0,
                                   int16_t dtcPixelMeanChn1, int16_t dtcPixelMeanChn2,
                                   int16_t dtcPixelMeanChn3, uint64_t batchIndex) {
  return change_batch(__func__, aippParmsSet, batchIndex, [&](ops::AippBatch& batch) -> Status {
    const int16_t values[] = {dtcPixelMeanChn0, dtcPixelMeanChn1, dtcPixelMeanChn2,
                              dtcPixelMeanChn3};
    std::copy(std::begin(values), std::end(values), batch.mean);
    return {};
  });
}

aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP* aippParmsSet, float dtcPixelMinChn0,
                                  float dtcPixelMinChn1, float dtcPixelMinChn2,
                                  float dtcPixelMinChn3, uint64_t batchIndex) {
  return change_batch(__func__, aippParmsSet, batchIndex, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_numbers({dtcPixelMinChn0, dtcPixelMinChn1, dtcPixelMinChn2, dtcPixelMinChn3},
                             "dtcPixelMin"));
    batch.set_min(0, dtcPixelMinChn0);
    batch.set_min(1, dtcPixelMinChn1);
    batch.set_min(2, dtcPixelMinChn2);
    batch.set_min(3, dtcPixelMinChn3);
    return {};
  });
}

aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP* aippParmsSet, float dtcPixelVarReciChn0,
                                   float dtcPixelVarReciChn1, float dtcPixelVarReciChn2,
                                   float dtcPixelVarReciChn3, uint64_t batchIndex) {
  return change_batch(__func__, aippParmsSet, batchIndex, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_numbers(
        {dtcPixelVarReciChn0, dtcPixelVarReciChn1, dtcPixelVarReciChn2, dtcPixelVarReciChn3},
        "dtcPixelVarReci"));
    batch.set_variance(0, dtcPixelVarReciChn0);
    batch.set_variance(1, dtcPixelVarReciChn1);
    batch.set_variance(2, dtcPixelVarReciChn2);
    batch.set_variance(3, dtcPixelVarReciChn3);
    return {};
  });
}

}  // extern "C"
