// SPDX-License-Identifier: Apache-2.0
// Settings of single calls: regions, scaling, JPEG quality, borders.
#include "api/acl_dvpp/objects.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::BorderConfig;
using media::Edges;
using media::JpegConfig;
using media::RegionConfig;
using media::ResizeConfig;

namespace {

// One edge of a region; the others may follow, so it is not compared with them.
aclError set_edge(const char* function, acldvppRoiConfig* config, uint32_t Edges::*edge,
                  uint32_t value) {
  return on_object<RegionConfig>(function, config, [&](RegionConfig& region) -> Status {
    region.edges.*edge = value;
    return {};
  });
}

}  // namespace

acldvppRoiConfig* acldvppCreateRoiConfig(uint32_t left, uint32_t right, uint32_t top,
                                         uint32_t bottom) {
  return give_handle<acldvppRoiConfig*>(__func__, [&] {
    return media::create_region({left, right, top, bottom});
  });
}

aclError acldvppDestroyRoiConfig(acldvppRoiConfig* roiConfig) {
  return destroy<RegionConfig>(__func__, roiConfig);
}

aclError acldvppSetRoiConfig(acldvppRoiConfig* config, uint32_t left, uint32_t right, uint32_t top,
                             uint32_t bottom) {
  return on_object<RegionConfig>(__func__, config, [&](RegionConfig& region) {
    return region.set({left, right, top, bottom});
  });
}

aclError acldvppSetRoiConfigLeft(acldvppRoiConfig* config, uint32_t left) {
  return set_edge(__func__, config, &Edges::left, left);
}

aclError acldvppSetRoiConfigRight(acldvppRoiConfig* config, uint32_t right) {
  return set_edge(__func__, config, &Edges::right, right);
}

aclError acldvppSetRoiConfigTop(acldvppRoiConfig* config, uint32_t top) {
  return set_edge(__func__, config, &Edges::top, top);
}

aclError acldvppSetRoiConfigBottom(acldvppRoiConfig* config, uint32_t bottom) {
  return set_edge(__func__, config, &Edges::bottom, bottom);
}

acldvppResizeConfig* acldvppCreateResizeConfig(void) {
  return create<acldvppResizeConfig*, ResizeConfig>(__func__);
}

aclError acldvppDestroyResizeConfig(acldvppResizeConfig* resizeConfig) {
  return destroy<ResizeConfig>(__func__, resizeConfig);
}

aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig* resizeConfig,
                                             uint32_t interpolation) {
  return on_object<ResizeConfig>(__func__, resizeConfig, [&](ResizeConfig& config) {
    return config.set_interpolation(interpolation);
  });
}

uint32_t acldvppGetResizeConfigInterpolation(const acldvppResizeConfig* resizeConfig) {
  return get<ResizeConfig, uint32_t>(__func__, resizeConfig, &ResizeConfig::interpolation);
}

acldvppJpegeConfig* acldvppCreateJpegeConfig(void) {
  return create<acldvppJpegeConfig*, JpegConfig>(__func__);
}

aclError acldvppDestroyJpegeConfig(acldvppJpegeConfig* jpegeConfig) {
  return destroy<JpegConfig>(__func__, jpegeConfig);
}

aclError acldvppSetJpegeConfigLevel(acldvppJpegeConfig* jpegeConfig, uint32_t level) {
  return on_object<JpegConfig>(__func__, jpegeConfig,
                               [&](JpegConfig& config) { return config.set_level(level); });
}

uint32_t acldvppGetJpegeConfigLevel(const acldvppJpegeConfig* jpegeConfig) {
  return get<JpegConfig, uint32_t>(__func__, jpegeConfig, &JpegConfig::level);
}

acldvppBorderConfig* acldvppCreateBorderConfig(void) {
  return create<acldvppBorderConfig*, BorderConfig>(__func__);
}

aclError acldvppDestroyBorderConfig(acldvppBorderConfig* borderConfig) {
  return destroy<BorderConfig>(__func__, borderConfig);
}

aclError acldvppSetBorderConfigBorderType(acldvppBorderConfig* borderConfig,
                                          acldvppBorderType borderType) {
  return on_object<BorderConfig>(__func__, borderConfig,
                                 [&](BorderConfig& config) { return config.set_type(borderType); });
}

aclError acldvppSetBorderConfigValue(acldvppBorderConfig* borderConfig, uint32_t index,
                                     double value) {
  return on_object<BorderConfig>(
      __func__, borderConfig, [&](BorderConfig& config) { return config.set_value(index, value); });
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
    return pin->value_at(index);
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
