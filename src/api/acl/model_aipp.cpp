// SPDX-License-Identifier: Apache-2.0
// aclmdlAIPP: the parameters of dynamic AIPP, picture by picture. What it means for a model is in
// model_aipp_use.cpp.
#include "acl/mdl/aipp.h"
#include "api/acl/object_calls.h"
#include "service/model/aipp_parameters.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::AippParameters;

namespace {

template <typename Set>
aclError change(const char* function, aclmdlAIPP* handle, Set set) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto parameters, resolve<AippParameters>(to_handle(handle)));
    return set(*parameters);
  });
}

}  // namespace

extern "C" {

aclmdlAIPP* aclmdlCreateAIPP(uint64_t batchSize) {
  return enter_value(__func__, static_cast<aclmdlAIPP*>(nullptr), [&]() -> Result<aclmdlAIPP*> {
    ANYNPU_ASSIGN(auto parameters, AippParameters::create(batchSize));
    return insert_object<aclmdlAIPP*>(std::move(parameters));
  });
}

aclError aclmdlDestroyAIPP(const aclmdlAIPP* aippParmsSet) {
  return destroy<AippParameters>(__func__, aippParmsSet);
}

aclError aclmdlGetAippDataSize(uint64_t batchSize, size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(size, "size"));
    ANYNPU_ASSIGN(*size, AippParameters::bytes_of(batchSize));
    return {};
  });
}

aclError aclmdlSetAIPPInputFormat(aclmdlAIPP* aippParmsSet, aclAippInputFormat inputFormat) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_format(static_cast<int>(inputFormat));
  });
}

// r0c0 to r2c2: the matrix; out and in: biases of the output and of the input.
aclError aclmdlSetAIPPCscParams(aclmdlAIPP* aippParmsSet, int8_t on, int16_t r0c0, int16_t r0c1,
                                int16_t r0c2, int16_t r1c0, int16_t r1c1, int16_t r1c2,
                                int16_t r2c0, int16_t r2c1, int16_t r2c2, uint8_t out0,
                                uint8_t out1, uint8_t out2, uint8_t in0, uint8_t in1, uint8_t in2) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_color_conversion({on,
                                            {r0c0, r0c1, r0c2, r1c0, r1c1, r1c2, r2c0, r2c1, r2c2},
                                            {out0, out1, out2},
                                            {in0, in1, in2}});
  });
}

aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP* aippParmsSet, int8_t rbuvSwapSwitch) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_rbuv_swap(rbuvSwapSwitch);
  });
}

aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP* aippParmsSet, int8_t axSwapSwitch) {
  return change(__func__, aippParmsSet,
                [&](AippParameters& parameters) { return parameters.set_ax_swap(axSwapSwitch); });
}

aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP* aippParmsSet, int32_t srcImageSizeW,
                                   int32_t srcImageSizeH) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_source_size(srcImageSizeW, srcImageSizeH);
  });
}

aclError aclmdlSetAIPPScfParams(aclmdlAIPP* aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
                                int32_t scfInputSizeH, int32_t scfOutputSizeW,
                                int32_t scfOutputSizeH, uint64_t batchIndex) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_scaling(
        batchIndex, {scfSwitch, scfInputSizeW, scfInputSizeH, scfOutputSizeW, scfOutputSizeH});
  });
}

aclError aclmdlSetAIPPCropParams(aclmdlAIPP* aippParmsSet, int8_t cropSwitch, int32_t cropStartPosW,
                                 int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH,
                                 uint64_t batchIndex) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_crop(batchIndex,
                               {cropSwitch, cropStartPosW, cropStartPosH, cropSizeW, cropSizeH});
  });
}

aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP* aippParmsSet, int8_t paddingSwitch,
                                    int32_t paddingSizeTop, int32_t paddingSizeBottom,
                                    int32_t paddingSizeLeft, int32_t paddingSizeRight,
                                    uint64_t batchIndex) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_padding(batchIndex, {paddingSwitch, paddingSizeTop, paddingSizeBottom,
                                               paddingSizeLeft, paddingSizeRight});
  });
}

aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP* aippParmsSet, int16_t dtcPixelMeanChn0,
                                   int16_t dtcPixelMeanChn1, int16_t dtcPixelMeanChn2,
                                   int16_t dtcPixelMeanChn3, uint64_t batchIndex) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_mean(
        batchIndex, {dtcPixelMeanChn0, dtcPixelMeanChn1, dtcPixelMeanChn2, dtcPixelMeanChn3});
  });
}

aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP* aippParmsSet, float dtcPixelMinChn0,
                                  float dtcPixelMinChn1, float dtcPixelMinChn2,
                                  float dtcPixelMinChn3, uint64_t batchIndex) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_minimum(
        batchIndex, {dtcPixelMinChn0, dtcPixelMinChn1, dtcPixelMinChn2, dtcPixelMinChn3});
  });
}

aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP* aippParmsSet, float dtcPixelVarReciChn0,
                                   float dtcPixelVarReciChn1, float dtcPixelVarReciChn2,
                                   float dtcPixelVarReciChn3, uint64_t batchIndex) {
  return change(__func__, aippParmsSet, [&](AippParameters& parameters) {
    return parameters.set_variance(batchIndex, {dtcPixelVarReciChn0, dtcPixelVarReciChn1,
                                                dtcPixelVarReciChn2, dtcPixelVarReciChn3});
  });
}

}  // extern "C"
