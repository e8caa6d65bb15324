// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/aipp.h"

namespace anynpu::aclruntime {

namespace {

template <typename To, typename From>
constexpr To to(From value) {
  return static_cast<To>(value);
}

aclError set_whole(aclmdlAIPP* set, const Aipp& a) {
  const auto m = [&a](size_t i) { return to<int16_t>(a.csc[i]); };
  const auto bias = [&a](size_t i) { return to<uint8_t>(a.csc[i]); };
  if (aclError e = aclmdlSetAIPPInputFormat(set, to<aclAippInputFormat>(a.format))) return e;
  if (aclError e = aclmdlSetAIPPSrcImageSize(set, a.image[0], a.image[1])) return e;
  if (aclError e = aclmdlSetAIPPRbuvSwapSwitch(set, to<int8_t>(a.rbuv_swap))) return e;
  if (aclError e = aclmdlSetAIPPAxSwapSwitch(set, to<int8_t>(a.ax_swap))) return e;
  return aclmdlSetAIPPCscParams(set, to<int8_t>(a.csc[0]), m(1), m(2), m(3), m(4), m(5), m(6), m(7),
                                m(8), m(9), bias(10), bias(11), bias(12), bias(13), bias(14),
                                bias(15));
}

aclError set_picture(aclmdlAIPP* set, const Aipp& a, uint64_t index) {
  const auto mean = [&a](size_t i) { return to<int16_t>(a.mean[i]); };
  const auto& [pad, top, bottom, left, right] = a.padding;
  if (a.crop[0] != 0) {
    if (aclError e =
            aclmdlSetAIPPCropParams(set, 1, a.crop[1], a.crop[2], a.crop[3], a.crop[4], index)) {
      return e;
    }
  }
  if (pad != 0) {
    if (aclError e = aclmdlSetAIPPPaddingParams(set, 1, top, bottom, left, right, index)) return e;
  }
  if (aclError e = aclmdlSetAIPPDtcPixelMean(set, mean(0), mean(1), mean(2), mean(3), index)) {
    return e;
  }
  if (aclError e =
          aclmdlSetAIPPDtcPixelMin(set, a.least[0], a.least[1], a.least[2], a.least[3], index)) {
    return e;
  }
  return aclmdlSetAIPPPixelVarReci(set, a.reciprocal[0], a.reciprocal[1], a.reciprocal[2],
                                   a.reciprocal[3], index);
}

}  // namespace

Failure apply(const Aipp& aipp, const Model& model, aclmdlDataset* dataset) {
  if (!aipp.active || model.aipp_inputs().empty()) return {};
  aclmdlAIPP* set = aclmdlCreateAIPP(aipp.batch);
  if (set == nullptr) return acl_failure(ACL_ERROR_INVALID_PARAM, "making AIPP parameters");
  aclError error = set_whole(set, aipp);
  for (uint64_t i = 0; error == ACL_SUCCESS && i < aipp.batch; ++i) {
    error = set_picture(set, aipp, i);
  }
  if (error == ACL_SUCCESS) {
    error = aclmdlSetInputAIPP(model.id(), dataset, model.aipp_inputs().front(), set);
  }
  Failure failure =
      error == ACL_SUCCESS ? Failure{} : acl_failure(error, "setting the AIPP parameters");
  aclmdlDestroyAIPP(set);
  return failure;
}

}  // namespace anynpu::aclruntime
