// SPDX-License-Identifier: Apache-2.0
#include "tile_rate.h"

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "ops/amx/tiles.h"

namespace {

using namespace anynpu;

constexpr int64_t kProducts = 8'000'000;  // of a thread: as long as a large product takes
constexpr double kFlops = 2.0 * 16 * 16 * 32;

#if defined(__x86_64__)
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Four sums, as the kernels have them.
void multiply(const std::vector<BF16>& numbers) {
  const TileConfig config;
  const int64_t stride = 64;
  asm volatile("ldtilecfg %0" : : "m"(config) : "memory");
  asm volatile(
      "tileloadd (%0,%1,1), %%tmm4\n\ttileloadd 1024(%0,%1,1), %%tmm5\n\t"
      "tileloadd 2048(%0,%1,1), %%tmm6\n\ttileloadd 3072(%0,%1,1), %%tmm7\n\t"
      "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3"
      :
      : "r"(numbers.data()), "r"(stride)
      : "memory");
  for (int64_t i = 0; i < kProducts; i += 4) {
    asm volatile(
        "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\ttdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
        "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\ttdpbf16ps %%tmm7, %%tmm5, %%tmm3"
        :
        :
        : "memory");
  }
  asm volatile("tilerelease" : : : "memory");
}
#else
void multiply(const std::vector<BF16>&) {}
#endif

}  // namespace

int print_tile_rate() {
  if (const Status status = ops::amx::check_amx(); !status.ok()) {
    std::fprintf(stderr, "benchop: %s\n", status.message().c_str());
    return 1;
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<BF16> numbers(4 * 16 * 32);
  for (BF16& number : numbers) number = to_bf16(draw(random));
  ThreadPool& pool = ThreadPool::instance();
  const auto all = [&] {
    pool.parallel_for(pool.threads(), 1, [&](size_t, size_t) { multiply(numbers); });
  };
  const ThreadPool::SpinScope spin(pool);
  all();  // wakes helpers and clocks
  const uint64_t start = now_ns();
  all();
  const auto taken = static_cast<double>(now_ns() - start);
  std::printf("tiles %.1f GFLOP/s\n",
              static_cast<double>(pool.threads()) * kFlops * kProducts / taken);
  return 0;
}
