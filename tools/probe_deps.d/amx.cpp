// SPDX-License-Identifier: Apache-2.0
//
// Does AMX really work here? CPUID is not believed: permission is asked of the kernel, palette 1 is
// written by hand and one bf16 tile product is compared with a loop. SIGILL is an answer too.
// Prints "key=value" lines.
#include <cpuid.h>
#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
constexpr long kTileData = 18;               // XFEATURE_XTILEDATA

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_per_row[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

sigjmp_buf on_illegal;

std::uint16_t bf16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<std::uint16_t>(bits >> 16);
}

// C (16x16 fp32) = A (16x32 bf16) * B (32x16 bf16, rows paired). Values are small integers: the
// result is exact.
__attribute__((target("amx-tile,amx-bf16"))) bool tile_product() {
  alignas(64) static std::uint16_t a[16][32], b[16][16][2];
  alignas(64) static float c[16][16];
  auto av = [](int i, int k) { return float((i * 3 + k) % 7 - 3); };
  auto bv = [](int k, int j) { return float((k + j * 5) % 9 - 4); };
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 32; ++k) {
      a[i][k] = bf16(av(i, k));
      b[k / 2][i][k % 2] = bf16(bv(k, i));
    }
  TileConfig config;
  for (int t = 0; t < 3; ++t) {
    config.bytes_per_row[t] = 64;
    config.rows[t] = 16;
  }
  asm volatile("" ::: "memory");  // GCC 12 knows of 8 of the 64 bytes that the next line reads
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_loadd(1, a, 64);
  _tile_loadd(2, b, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, c, 64);
  _tile_release();
  asm volatile("" ::: "memory");
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float want = 0;
      for (int k = 0; k < 32; ++k) want += av(i, k) * bv(k, j);
      if (want != c[i][j]) return false;
    }
  return true;
}

}  // namespace

int main() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool leaf7 = __get_cpuid_count(7, 0, &a, &b, &c, &d);
  std::printf("amx_tile=%d\namx_bf16=%d\namx_int8=%d\n", leaf7 && d >> 24 & 1, leaf7 && d >> 22 & 1,
              leaf7 && d >> 25 & 1);
  const unsigned max_leaf = __get_cpuid_max(0, nullptr);
  a = 0;
  __get_cpuid_count(0x1D, 0, &a, &b, &c, &d);
  std::printf("max_leaf=0x%x\nleaf_1d_eax=%u\n", max_leaf, max_leaf >= 0x1D ? a : 0);

  const bool permitted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  std::printf("permission=%s\n", permitted ? "granted" : "refused");
  if (!permitted) {
    std::printf("amx=absent\n");
    return 0;
  }
  struct sigaction action = {};
  action.sa_handler = [](int) { siglongjmp(on_illegal, 1); };
  sigaction(SIGILL, &action, nullptr);
  if (sigsetjmp(on_illegal, 1))
    std::printf("amx=SIGILL\n");
  else
    std::printf("amx=%s\n", tile_product() ? "works" : "wrong result");
  return 0;
}
