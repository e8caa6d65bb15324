// SPDX-License-Identifier: Apache-2.0
#include "media/interpolation.h"

#include <iterator>

#include "base/soc.h"

namespace anynpu::media {
namespace {

using pixel::Interpolation;

// By number, for numbers above the first.
constexpr Interpolation kV1[] = {Interpolation::nearest,
                                 Interpolation::bilinear,
                                 Interpolation::nearest,
                                 Interpolation::bilinear_tensorflow,
                                 Interpolation::nearest_tensorflow,
                                 Interpolation::high_order};
constexpr Interpolation kV2[] = {Interpolation::bilinear,
                                 Interpolation::nearest,
                                 Interpolation::nearest,
                                 Interpolation::bilinear_tensorflow,
                                 Interpolation::nearest_tensorflow,
                                 Interpolation::high_order};
static_assert(std::size(kV1) == std::size(kV2));

}  // namespace

Result<Interpolation> interpolation_of(uint32_t number, Version version, std::string_view soc) {
  const bool second = version == Version::v2;
  if (number >= std::size(kV1))
    return fail(Code::invalid_argument,
                "the interpolation is {}; expected 0 ({}), 1 ({}), 2 (nearest), 3 (bilinear as "
                "TensorFlow), 4 (nearest as TensorFlow) or 5 (high order)",
                number, second ? "bilinear" : "the chip's own", second ? "nearest" : "bilinear");
  if (second) return kV2[number];
  return number == 0 && scales_smoothly(soc) ? Interpolation::bilinear : kV1[number];
}

Result<Interpolation> interpolation_of(uint32_t number, Version version) {
  return interpolation_of(number, version, soc_name());
}

}  // namespace anynpu::media
