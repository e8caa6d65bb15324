// SPDX-License-Identifier: Apache-2.0
// Which chip has which unit, in each version of the interface: the guide's tables 5.3.1 and 5.4.1
// as data. The chip is the one that ANYNPU_SOC names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace anynpu::media {

enum class Unit : uint8_t { vpc, jpegd, jpege, pngd, vdec, venc, convert_color, count };
std::string_view name_of(Unit unit);

enum class Version : uint8_t { v1, v2 };

struct Series {
  std::string_view prefixes;  // of chip names, separated by spaces; the longest match counts
  std::string_view name;      // of the products
  uint32_t v1;                // bit per Unit
  uint32_t v2;
  bool smooth;  // V1 scales bilinear where the program asks for nothing
};
std::span<const Series> series();

// Fails with unsupported_feature and the name of the chip, or of the current device when its back
// end has no media processing.
Status check_support(Unit unit, Version version);
Status check_support(Unit unit, Version version, std::string_view soc);

// The default interpolation of V1: bilinear, or nearest.
bool scales_smoothly(std::string_view soc);

// Logs that settings are stored but have no effect: "JPEGD: precision
// mode".
void warn_without_effect(std::string_view unit, std::string_view settings);

}  // namespace anynpu::media
