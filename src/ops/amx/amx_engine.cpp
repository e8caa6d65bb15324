// SPDX-License-Identifier: Apache-2.0
// The engine of AMX instructions, and the check whether it can run. Nothing here executes one
// before check_amx() has asked the processor and the system. Instructions are inline assembly with
// complete operand constraints, which GCC 12's intrinsics do not have.
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "ops/amx/tiles.h"
#include "ops/simd/isa.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#include "ops/amx/multiply.h"
#include "ops/amx/permute_rows.h"
#include "ops/amx/pixels.h"
#include "ops/amx/sums.h"

namespace anynpu::ops::amx {
namespace {

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

struct AmxTiles {
  AmxTiles() {
    const TileConfig config;
    asm volatile("ldtilecfg %0" : : "m"(config));
  }
  ~AmxTiles() { asm volatile("tilerelease" : : : "memory"); }

  template <int tile>
  void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(tile));
  }
  template <int tile>
  void load(const void* from, int64_t step) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(step), "i"(tile) : "memory");
  }
  // Streaming load: bypasses the L1 cache.
  template <int tile>
  void load_streaming(const void* from, int64_t step) {
    asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(step), "i"(tile) : "memory");
  }
  template <int tile>
  void store(void* to, int64_t step) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(step), "i"(tile) : "memory");
  }
  [[gnu::always_inline]] static void round_to(Floats value, BF16* to) {
    Halves halves;
    asm("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(value));
    std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
  }
  // NaN as second operand stays.
  [[gnu::always_inline]] static Floats clamp(Floats value, Floats low, Floats high) {
    asm("vmaxps %0, %1, %0" : "+v"(value) : "v"(low));
    asm("vminps %0, %1, %0" : "+v"(value) : "v"(high));
    return value;
  }
  [[gnu::always_inline]] static void round_pair(Floats first, Floats second, Floats low,
                                                Floats high, BF16* to) {
    Words both;
    asm("vcvtne2ps2bf16 %1, %2, %0"
        : "=v"(both)
        : "v"(clamp(first, low, high)), "v"(clamp(second, low, high)));
    std::memcpy(static_cast<void*>(to), &both, sizeof both);
  }
  // Words of both, in an order that numbers them one after the other.
  [[gnu::always_inline]] static Words permute(Words first, Words order, Words second) {
    asm("vpermt2w %2, %1, %0" : "+v"(first) : "v"(order), "v"(second));
    return first;
  }
  // The words of `row` that the mask names, from memory.
  [[gnu::always_inline]] static Words take(Words row, uint32_t mask, const BF16* from) {
    const auto& line = *reinterpret_cast<const std::byte(*)[sizeof row]>(from);
    asm("vmovdqu16 %2, %0%{%1%}" : "+v"(row) : "Yk"(mask), "m"(line));
    return row;
  }
  template <int sum, int left, int right>
  void add_product() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(left), "i"(right));
  }
};

void depthwise_rows(const ShortLaneRows& rows) { kShortLanesBf16.depthwise_rows(rows); }

constexpr Engine kAmx{
    multiply<AmxTiles>,        join_units<AmxTiles>,   pair_rows<AmxTiles>,   add_sums<AmxTiles>,
    multiply_pixels<AmxTiles>, permute_rows<AmxTiles>, blend_lines<AmxTiles>, depthwise_rows};

}  // namespace
}  // namespace anynpu::ops::amx
#pragma GCC pop_options

namespace anynpu::ops::amx {

namespace {

constexpr long kAskForState = 0x1023;  // arch_prctl: ARCH_REQ_XCOMP_PERM
constexpr long kTileData = 18;         // the state component of tile contents

// Whether processor and system know tiles at all: CPUID, and the states that XCR0 enables.
bool has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24;
  if ((d & kBf16) == 0 || (d & kTile) == 0) return false;
  constexpr unsigned kRounding = 1u << 5;  // AVX512-BF16
  if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || (a & kRounding) == 0) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kStates = 3u << 17;  // tile configuration and tile data
  return (low & kStates) == kStates;
}

// One block of small integers: every sum is exact, in any order.
bool product_is_right() {
  constexpr int64_t kSteps = 2;
  std::vector<BF16> a(static_cast<size_t>(kSteps * kStepElements)), b(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = to_bf16(static_cast<float>(static_cast<int>(i * 7 % 13) - 6));
    b[i] = to_bf16(static_cast<float>(static_cast<int>(i * 5 % 11) - 5));
  }
  const std::vector<float> bias(kPanel);
  std::vector<BF16> results(kBlockSums), wanted(kBlockSums);
  Epilogue epilogue;
  epilogue.bias = bias.data();
  epilogue.row_step = kPanel;
  epilogue.tile_step = kRows;
  epilogue.rows = epilogue.columns = kPanel;
  const int64_t step_at[kSteps] = {0, kStepElements * 2};
  Job job;
  job.a = reinterpret_cast<const std::byte*>(a.data());
  job.row_bytes = kDepth * 2;
  job.step_at = step_at;
  job.b = b.data();
  job.row_panels = job.column_panels = 1;
  job.steps = kSteps;
  job.epilogue = &epilogue;
  epilogue.out = wanted.data();
  software_engine().multiply(job);
  epilogue.out = results.data();
  kAmx.multiply(job);
  return std::memcmp(results.data(), wanted.data(), results.size() * sizeof(BF16)) == 0;
}

Status find_out() {
  ANYNPU_TRY(check_isa(Isa::avx512));
  if (!has_tiles()) return fail(Code::unsupported_feature, "the processor lacks amx_bf16");
  if (syscall(SYS_arch_prctl, kAskForState, kTileData) != 0) {
    return fail(Code::unsupported_feature,
                "the system does not give this process tile registers (arch_prctl: {}); alternate "
                "signal stacks must have AT_MINSIGSTKSZ bytes",
                std::strerror(errno));
  }
  if (!product_is_right()) {
    return fail(Code::unsupported_feature, "the self-test of amx_bf16 gave a wrong product");
  }
  return {};
}

}  // namespace

Status check_amx() {
  static const Status status = find_out();
  return status;
}

const Engine& amx_engine() { return kAmx; }

}  // namespace anynpu::ops::amx
#else
namespace anynpu::ops::amx {

Status check_amx() { return fail(Code::unsupported_feature, "the processor lacks amx_bf16"); }
const Engine& amx_engine() { return software_engine(); }

}  // namespace anynpu::ops::amx
#endif

namespace anynpu::ops::amx {

const char* refusal() {
  static const std::string text = check_amx().ok() ? "" : check_amx().message();
  return text.c_str();
}

}  // namespace anynpu::ops::amx
