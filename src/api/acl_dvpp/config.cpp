// SPDX-License-Identifier: Apache-2.0
// Settings of single calls: regions, scaling, JPEG quality, borders.
#include "api/acl_dvpp/objects.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

Status check_region(uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) {
  if (left <= right && top <= bottom) return {};
  return fail(Code::invalid_argument,
              "the region goes from {} to {} and from {} to {}; left and top must not lie behind "
              "right and bottom",
              left, right, top, bottom);
}

Status check_component(uint32_t index) {
  if (index < BorderConfig::kValues) return {};
  return fail(Code::invalid_argument, "the index is {}; expected 0 to {}", index,
              BorderConfig::kValues - 1);
}

}  // namespace

acldvppRoiConfig* acldvppCreateRoiConfig(uint32_t left, uint32_t right, uint32_t top,
                                         uint32_t bottom) {
  return enter_value(__func__, static_cast<acldvppRoiConfig*>(nullptr),
                     [&]() -> Result<acldvppRoiConfig*> {
                       ANYNPU_TRY(check_region(left, right, top, bottom));
                       auto region = std::make_shared<Region>();
                       region->edges = {left, right, top, bottom};
                       return insert_object<acldvppRoiConfig*>(std::move(region));
                     });
}

aclError acldvppDestroyRoiConfig(const acldvppRoiConfig* roiConfig) {
  return destroy<Region>(__func__, roiConfig);
}

aclError acldvppSetRoiConfig(acldvppRoiConfig* config, uint32_t left, uint32_t right, uint32_t top,
                             uint32_t bottom) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<Region>(to_handle(config)));
    ANYNPU_TRY(check_region(left, right, top, bottom));
    pin->edges = {left, right, top, bottom};
    return {};
  });
}

aclError acldvppSetRoiConfigLeft(acldvppRoiConfig* config, uint32_t left) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<Region>(to_handle(config)));
    pin->edges.left = left;
    return {};
  });
}

aclError acldvppSetRoiConfigRight(acldvppRoiConfig* config, uint32_t right) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<Region>(to_handle(config)));
    pin->edges.right = right;
    return {};
  });
}

aclError acldvppSetRoiConfigTop(acldvppRoiConfig* config, uint32_t top) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<Region>(to_handle(config)));
    pin->edges.top = top;
    return {};
  });
}

aclError acldvppSetRoiConfigBottom(acldvppRoiConfig* config, uint32_t bottom) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<Region>(to_handle(config)));
    pin->edges.bottom = bottom;
    return {};
  });
}

acldvppResizeConfig* acldvppCreateResizeConfig(void) {
  return create<acldvppResizeConfig*, ResizeConfig>(__func__);
}

aclError acldvppDestroyResizeConfig(const acldvppResizeConfig* resizeConfig) {
  return destroy<ResizeConfig>(__func__, resizeConfig);
}

aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig* resizeConfig,
                                             uint32_t interpolation) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<ResizeConfig>(to_handle(resizeConfig)));
    if (interpolation >= pixel::kInterpolations) {
      return fail(Code::invalid_argument,
                  "the interpolation is {}; expected 0 (default: nearest), 1 (bilinear), 2 "
                  "(nearest), 3 (bilinear as TensorFlow), 4 (nearest as TensorFlow) or 5 (high "
                  "order)",
                  interpolation);
    }
    pin->interpolation = interpolation;
    return {};
  });
}

uint32_t acldvppGetResizeConfigInterpolation(const acldvppResizeConfig* resizeConfig) {
  return get<ResizeConfig, uint32_t>(__func__, resizeConfig, &ResizeConfig::interpolation);
}

acldvppJpegeConfig* acldvppCreateJpegeConfig(void) {
  return create<acldvppJpegeConfig*, JpegConfig>(__func__);
}

aclError acldvppDestroyJpegeConfig(const acldvppJpegeConfig* jpegeConfig) {
  return destroy<JpegConfig>(__func__, jpegeConfig);
}

aclError acldvppSetJpegeConfigLevel(acldvppJpegeConfig* jpegeConfig, uint32_t level) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<JpegConfig>(to_handle(jpegeConfig)));
    if (level > media::kJpegLevels) {
      return fail(Code::invalid_argument, "the level is {}; expected 0 to {}", level,
                  media::kJpegLevels);
    }
    pin->level = level;
    return {};
  });
}

uint32_t acldvppGetJpegeConfigLevel(const acldvppJpegeConfig* jpegeConfig) {
  return get<JpegConfig, uint32_t>(__func__, jpegeConfig, &JpegConfig::level);
}

acldvppBorderConfig* acldvppCreateBorderConfig(void) {
  return create<acldvppBorderConfig*, BorderConfig>(__func__);
}

aclError acldvppDestroyBorderConfig(const acldvppBorderConfig* borderConfig) {
  return destroy<BorderConfig>(__func__, borderConfig);
}

aclError acldvppSetBorderConfigBorderType(acldvppBorderConfig* borderConfig,
                                          acldvppBorderType borderType) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<BorderConfig>(to_handle(borderConfig)));
    if (borderType < BORDER_CONSTANT || borderType > BORDER_REFLECT_101) {
      return fail(Code::invalid_argument,
                  "the border type is {}; expected 0 (constant), 1 (replicate), 2 (reflect) or 3 "
                  "(reflect 101)",
                  borderType);
    }
    pin->type = borderType;
    return {};
  });
}

aclError acldvppSetBorderConfigValue(acldvppBorderConfig* borderConfig, uint32_t index,
                                     double value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<BorderConfig>(to_handle(borderConfig)));
    ANYNPU_TRY(check_component(index));
    if (!(value >= 0 && value <= 255))
      return fail(Code::invalid_argument, "the value is {}; expected 0 to 255", value);
    pin->value[index] = value;
    return {};
  });
}

aclError acldvppSetBorderConfigTop(acldvppBorderConfig* borderConfig, uint32_t top) {
  return set<BorderConfig>(__func__, borderConfig, &BorderConfig::top, top);
}

aclError acldvppSetBorderConfigBottom(acldvppBorderConfig* borderConfig, uint32_t bottom) {
  return set<BorderConfig>(__func__, borderConfig, &BorderConfig::bottom, bottom);
}

aclError acldvppSetBorderConfigLeft(acldvppBorderConfig* borderConfig, uint32_t left) {
  return set<BorderConfig>(__func__, borderConfig, &BorderConfig::left, left);
}

aclError acldvppSetBorderConfigRight(acldvppBorderConfig* borderConfig, uint32_t right) {
  return set<BorderConfig>(__func__, borderConfig, &BorderConfig::right, right);
}

acldvppBorderType acldvppGetBorderConfigBorderType(const acldvppBorderConfig* borderConfig) {
  return get<BorderConfig, acldvppBorderType>(__func__, borderConfig, &BorderConfig::type);
}

double acldvppGetBorderConfigValue(const acldvppBorderConfig* borderConfig, uint32_t index) {
  return enter_value(__func__, double{-1}, [&]() -> Result<double> {
    ANYNPU_ASSIGN(auto pin, resolve<BorderConfig>(to_handle(borderConfig)));
    ANYNPU_TRY(check_component(index));
    return pin->value[index];
  });
}

uint32_t acldvppGetBorderConfigTop(const acldvppBorderConfig* borderConfig) {
  return get<BorderConfig, uint32_t>(__func__, borderConfig, &BorderConfig::top);
}

uint32_t acldvppGetBorderConfigBottom(const acldvppBorderConfig* borderConfig) {
  return get<BorderConfig, uint32_t>(__func__, borderConfig, &BorderConfig::bottom);
}

uint32_t acldvppGetBorderConfigLeft(const acldvppBorderConfig* borderConfig) {
  return get<BorderConfig, uint32_t>(__func__, borderConfig, &BorderConfig::left);
}

uint32_t acldvppGetBorderConfigRight(const acldvppBorderConfig* borderConfig) {
  return get<BorderConfig, uint32_t>(__func__, borderConfig, &BorderConfig::right);
}
