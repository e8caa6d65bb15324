// SPDX-License-Identifier: Apache-2.0
#include "ops/simd/tile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace anynpu::ops {
namespace {

constexpr int64_t kProducts = 1 << 16;

std::vector<const TileSet*> present_sets() {
  std::vector<const TileSet*> sets;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (check_isa(isa).ok()) sets.push_back(&tile_set(isa));
  }
  return sets;
}

// The sums of a tile whose pixels all read the same numbers, in runs of `length`.
std::vector<float> sums_of(const TileSet& set, const std::vector<float>& in, int64_t pixels,
                           int64_t blocks, int64_t length) {
  std::vector<int64_t> runs;
  for (int64_t at = 0; at < kProducts; at += length) runs.push_back(at);
  const std::vector<float> weights(static_cast<size_t>(kProducts * 16 * blocks), 0.1f);
  const std::vector<float> bias(static_cast<size_t>(16 * blocks));
  std::vector<float> out(static_cast<size_t>(pixels * 16 * blocks));
  TileArgs t;
  t.in = in.data();
  t.runs = runs.data();
  t.run_count = static_cast<int64_t>(runs.size());
  t.run_length = length;
  t.weights = weights.data();
  t.bias = bias.data();
  t.out = out.data();
  t.out_pixel = 16 * blocks;
  t.out_block = 16;
  set.find(Walk::any, 1, pixels, blocks)(t);
  return out;
}

TEST(Tile, LongSumsErrLikeTheirLinksNotLikeOneChain) {
  const std::vector<float> in(static_cast<size_t>(kProducts), 0.1f);
  const double exact = static_cast<double>(0.1f) * static_cast<double>(0.1f) * kProducts;
  float chain = 0;
  for (int64_t i = 0; i < kProducts; ++i) chain = std::fma(0.1f, 0.1f, chain);
  ASSERT_GT(std::fabs(chain - exact),
            1e-5 * exact);  // what the accumulation chunks are there against
  for (const TileSet* set : present_sets()) {
    for (const int64_t length : {int64_t{16}, int64_t{512}, kProducts}) {
      for (const float sum : sums_of(*set, in, set->max_pixels, set->panel_blocks, length)) {
        EXPECT_NEAR(sum, exact, 2e-6 * exact) << name_of(set->isa) << ", runs of " << length;
      }
    }
  }
}

TEST(Tile, TilesOfAnySizeGiveTheSameBytes) {
  std::vector<float> in(static_cast<size_t>(kProducts));
  for (size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<float>(i));
  for (const TileSet* set : present_sets()) {
    const float one = sums_of(*set, in, 1, 1, 1024)[0];
    for (int64_t pixels = 1; pixels <= set->max_pixels; ++pixels) {
      for (const float sum : sums_of(*set, in, pixels, set->panel_blocks, 1024)) {
        EXPECT_EQ(sum, one) << name_of(set->isa) << ", " << pixels << " pixels";
      }
    }
  }
}

}  // namespace
}  // namespace anynpu::ops
