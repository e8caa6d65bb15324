// SPDX-License-Identifier: Apache-2.0
#include "media/support.h"

#include "base/log.h"
#include "base/soc.h"
#include "device/runtime.h"

namespace anynpu::media {
namespace {

constexpr uint32_t bit(Unit unit) { return 1u << static_cast<int>(unit); }
constexpr uint32_t kImages = bit(Unit::vpc) | bit(Unit::jpegd) | bit(Unit::jpege) | bit(Unit::pngd);
constexpr uint32_t kColor = bit(Unit::convert_color);
constexpr uint32_t kVdec = bit(Unit::vdec);
constexpr uint32_t kVenc = bit(Unit::venc);

constexpr Series kSeries[] = {
    {"Ascend310", "Atlas 200/300/500 inference", kImages | kVdec | kVenc, 0, false},
    {"Ascend310B", "Atlas 200/500 A2 inference", kImages | kColor | kVdec | kVenc,
     kImages | kColor | kVdec | kVenc, true},
    {"Ascend310P Ascend610 Ascend615", "Atlas inference series (Ascend 310P)",
     kImages | kColor | kVdec | kVenc, kImages | kColor | kVdec | kVenc, true},
    {"Ascend910 Ascend910A Ascend910Pro Ascend910Premium", "Atlas training series", kImages | kVdec,
     0, false},
    {"Ascend910B1 Ascend910B2 Ascend910B3 Ascend910B4 Ascend910_", "Atlas A2 training series",
     kImages | kColor | kVdec, kImages | kColor | kVdec, true},
};

size_t match(std::string_view prefixes, std::string_view soc) {
  size_t best = 0;
  while (!prefixes.empty()) {
    const size_t end = prefixes.find(' ');
    const std::string_view prefix = prefixes.substr(0, end);
    if (soc.substr(0, prefix.size()) == prefix) best = std::max(best, prefix.size());
    prefixes.remove_prefix(end == std::string_view::npos ? prefixes.size() : end + 1);
  }
  return best;
}

const Series& series_of(std::string_view soc) {
  const Series* found = &kSeries[0];
  size_t best = 0;
  for (const Series& candidate : kSeries) {
    const size_t length = match(candidate.prefixes, soc);
    if (length > best) best = length, found = &candidate;
  }
  return *found;
}

}  // namespace

std::span<const Series> series() { return kSeries; }

std::string_view name_of(Unit unit) {
  constexpr std::string_view names[] = {
      "VPC", "JPEGD", "JPEGE", "PNGD", "VDEC", "VENC", "colour conversion"};
  return names[static_cast<int>(unit)];
}

Status check_support(Unit unit, Version version, std::string_view soc) {
  const Series& chip = series_of(soc);
  if ((version == Version::v1 ? chip.v1 : chip.v2) & bit(unit)) return {};
  return fail(Code::unsupported_feature,
              "{} of media processing {} is not there on {} ({}); set ANYNPU_SOC to a chip that "
              "has it, for example Ascend310P3",
              name_of(unit), version == Version::v1 ? "V1" : "V2", soc, chip.name);
}

Status check_support(Unit unit, Version version) {
  ANYNPU_TRY(check_support(unit, version, soc_name()));
  auto context = device::Runtime::instance().current();
  return context.ok() ? device::check_media(*(*context)->device()) : Status{};
}

bool scales_smoothly(std::string_view soc) { return series_of(soc).smooth; }

void warn_without_effect(std::string_view unit, std::string_view settings) {
  ANYNPU_LOG(warning, "{}: {} was set and changes nothing here", unit, settings);
}

}  // namespace anynpu::media
