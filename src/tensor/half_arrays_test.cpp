// SPDX-License-Identifier: Apache-2.0
#include "tensor/half_arrays.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tensor/half.h"

namespace anynpu {
namespace {

TEST(HalfArrays, EveryShortFloatWidensAsAlone) {
  std::vector<uint16_t> all(0x10000);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(all.size());
  const auto* bytes = reinterpret_cast<const std::byte*>(all.data());
  for (const DType type : {DType::f16, DType::bf16}) {
    widen(type, bytes, wide.data(), wide.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const float one = type == DType::f16 ? to_float(F16{all[i]}) : to_float(BF16{all[i]});
      if (std::isnan(one)) {
        ASSERT_TRUE(std::isnan(wide[i])) << i;
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(one)) << i;
      }
    }
  }
}

TEST(HalfArrays, FloatsNarrowAsAlone) {
  std::mt19937 random(7);
  std::vector<float> floats(100000);
  for (float& f : floats) f = std::bit_cast<float>(static_cast<uint32_t>(random()));
  for (size_t i = 0; i < floats.size(); i += 2)  // half of them within the range of float16
    floats[i] = std::ldexp(static_cast<float>(random() % 8192) / 4096,
                           static_cast<int>(random() % 44) - 28);
  std::vector<uint16_t> shorts(floats.size());
  for (const DType type : {DType::f16, DType::bf16}) {
    narrow(type, floats.data(), reinterpret_cast<std::byte*>(shorts.data()), floats.size());
    for (size_t i = 0; i < floats.size(); ++i) {
      const uint16_t one = type == DType::f16 ? to_f16(floats[i]).bits : to_bf16(floats[i]).bits;
      if (std::isnan(floats[i])) {
        const float back =
            type == DType::f16 ? to_float(F16{shorts[i]}) : to_float(BF16{shorts[i]});
        ASSERT_TRUE(std::isnan(back)) << floats[i];
      } else {
        ASSERT_EQ(shorts[i], one) << floats[i];
      }
    }
  }
}

}  // namespace
}  // namespace anynpu
