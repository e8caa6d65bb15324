// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/flash_attention.h"

#include <cmath>

#include "base/align.h"

namespace anynpu::device::cuda {

namespace {

using ops::attention::AttentionShape;
using ops::attention::HeadSteps;

constexpr int64_t kKeys = 64;       // per tile
constexpr int64_t kMostSize = 128;  // head size
constexpr double kLog2e = 1.4426950408889634;

// D is the size of a head, DV that of its values, W the warps of a block. g and t say which part of
// a tile of 16 x 8 results a thread of a warp holds (mma.m16n8k16).
constexpr const char* kBody = R"cuda(
__device__ __forceinline__ void mma(float* c, const u32* a, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32." KIND "." KIND ".f32 {%0,%1,%2,%3}, "
               "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ float power(float v) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v)); return y; }
__device__ __forceinline__ u32 both(float low, float high) {
  u32 y; asm("cvt.rn." KIND "x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low)); return y;
}
__device__ __forceinline__ void fetch(u16* to, const u16* from, bool inside) {
  const u32 at = (u32)__cvta_generic_to_shared(to); const int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(from), "r"(bytes));
}
template <int SIZE, int STEP> __device__ __forceinline__ void fetch_tile(u16* to, const u16* from, int first) {
  constexpr int parts = SIZE / 8;  // of a row, a thread each
  if (W * 32 % parts == 0) {
    constexpr int rows = W * 32 / parts;  // at once
    const int row = threadIdx.x / parts, part = threadIdx.x % parts * 8;
    from += (i64)(first + row) * STEP + part; to += row * (SIZE + 8) + part;
#pragma unroll
    for (int r = 0; r < KEYS; r += rows)
      if (row + r < KEYS) fetch(to + r * (SIZE + 8), from + (i64)r * STEP, first + row + r < COLUMNS);
  } else {
    for (int i = threadIdx.x; i < KEYS * parts; i += W * 32) {
      const int row = i / parts, part = i % parts * 8;
      fetch(to + row * (SIZE + 8) + part, from + (i64)(first + row) * STEP + part, first + row < COLUMNS);
    }
  }
}
__device__ __forceinline__ float mask_at(const MASK* mask, i64 b, i64 h, i64 j) { return ROW_MASK_AT; }
extern "C" __global__ void __launch_bounds__(W * 32, D + DV <= 128 ? 16 / W : 1) kernel(const u16* q, const u16* key, const u16* value,
                                                            const MASK* mask, u16* y) {
  __shared__ __align__(16) u16 ks[STAGES][KEYS * (D + 8)];
  __shared__ __align__(16) u16 vs[STAGES][KEYS * (DV + 8)];
  __shared__ float ms[KEYS];
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const int tiles = (ROWS + W * 16 - 1) / (W * 16);
  const int tile = blockIdx.x % tiles, h = blockIdx.x / tiles % HEADS; const i64 b = blockIdx.x / (tiles * HEADS);
  const int r0 = tile * W * 16 + (threadIdx.x >> 5) * 16 + g, r1 = r0 + 8;
  const bool busy = r0 - g < ROWS;  // the rows of this warp are there
  q += b * Q_BATCH + h * Q_HEAD; key += b * K_BATCH + h / GROUP * K_HEAD;
  value += b * V_BATCH + h / GROUP * V_HEAD; y += b * Y_BATCH + h * Y_HEAD;
  fetch_tile<D, K_ROW>(ks[0], key, 0); fetch_tile<DV, V_ROW>(vs[0], value, 0);
  asm volatile("cp.async.commit_group;");
  u32 qf[D / 16][4];
#pragma unroll
  for (int k = 0; k < D / 16; ++k) {
    const i64 c = k * 16 + 2 * t;
    qf[k][0] = r0 < ROWS ? *(const u32*)(q + r0 * (i64)Q_ROW + c) : 0;
    qf[k][1] = r1 < ROWS ? *(const u32*)(q + r1 * (i64)Q_ROW + c) : 0;
    qf[k][2] = r0 < ROWS ? *(const u32*)(q + r0 * (i64)Q_ROW + c + 8) : 0;
    qf[k][3] = r1 < ROWS ? *(const u32*)(q + r1 * (i64)Q_ROW + c + 8) : 0;
  }
  float out[DV / 8][4];
#pragma unroll
  for (int n = 0; n < DV / 8; ++n) { out[n][0] = out[n][1] = out[n][2] = out[n][3] = 0; }
  float top0 = -INFINITY, top1 = -INFINITY, sum0 = 0, sum1 = 0;
  int stage = 0;
  for (int first = 0; first < COLUMNS; first += KEYS) {
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    if (STAGES == 2 && first + KEYS < COLUMNS) {
      fetch_tile<D, K_ROW>(ks[stage ^ 1], key, first + KEYS);
      fetch_tile<DV, V_ROW>(vs[stage ^ 1], value, first + KEYS);
      asm volatile("cp.async.commit_group;");
    }
    const u16* kt = ks[STAGES == 2 ? stage : 0]; const u16* vt = vs[STAGES == 2 ? stage : 0];
    const int live = COLUMNS - first;  // keys of this tile, or more
    if (ROW_MASK) {
      for (int j = threadIdx.x; j < KEYS; j += W * 32) ms[j] = first + j < COLUMNS ? mask_at(mask, b, h, first + j) : 0;
      __syncthreads();
    }
    if (busy) {
    float s[KEYS / 8][4];
#pragma unroll
    for (int n = 0; n < KEYS / 8; ++n) s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0;
#pragma unroll
    for (int k = 0; k < D / 16; ++k) {
#pragma unroll
      for (int n = 0; n < KEYS / 16; ++n) {
        if (n * 16 >= live) continue;
        u32 k0, k1, k2, k3;
        const u16* at = kt + (n * 16 + (lane & 7) + (lane >> 4) * 8) * (D + 8) + k * 16 + ((lane >> 3) & 1) * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(k0), "=r"(k1), "=r"(k2), "=r"(k3) : "r"((u32)__cvta_generic_to_shared(at)));
        mma(s[2 * n], qf[k], k0, k1);
        mma(s[2 * n + 1], qf[k], k2, k3);
      }
    }
    float high0 = top0, high1 = top1;
#pragma unroll
    for (int n = 0; n < KEYS / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int j = first + n * 8 + 2 * t + (e & 1), r = e < 2 ? r0 : r1;
        float v = RAW ? s[n][e] : s[n][e] * SCALE;
        if (ROW_MASK) v += ms[n * 8 + 2 * t + (e & 1)];
        MASKED
        s[n][e] = v;
      }
    }
    if (live < KEYS) {
#pragma unroll
      for (int n = 0; n < KEYS / 8; ++n) {
        if (n * 8 + 2 * t >= live) s[n][0] = s[n][2] = -INFINITY;
        if (n * 8 + 2 * t + 1 >= live) s[n][1] = s[n][3] = -INFINITY;
      }
    }
#pragma unroll
    for (int n = 0; n < KEYS / 8; ++n) {
      high0 = fmaxf(high0, fmaxf(s[n][0], s[n][1])); high1 = fmaxf(high1, fmaxf(s[n][2], s[n][3]));
    }
    for (int step = 1; step < 4; step <<= 1) {
      high0 = fmaxf(high0, __shfl_xor_sync(0xffffffffu, high0, step));
      high1 = fmaxf(high1, __shfl_xor_sync(0xffffffffu, high1, step));
    }
    const float unit = RAW ? SCALE : 1;  // of s, high and top
    const float base0 = high0 == -INFINITY ? 0 : high0 * unit, base1 = high1 == -INFINITY ? 0 : high1 * unit;
    if (__any_sync(0xffffffffu, high0 != top0 || high1 != top1)) {
      const float fade0 = power(fmaf(top0, unit, -base0)), fade1 = power(fmaf(top1, unit, -base1));
      top0 = high0; top1 = high1;
      sum0 *= fade0; sum1 *= fade1;
#pragma unroll
      for (int n = 0; n < DV / 8; ++n) { out[n][0] *= fade0; out[n][1] *= fade0; out[n][2] *= fade1; out[n][3] *= fade1; }
    }
#pragma unroll
    for (int n = 0; n < KEYS / 8; ++n) {
      s[n][0] = power(fmaf(s[n][0], unit, -base0)); s[n][1] = power(fmaf(s[n][1], unit, -base0));
      s[n][2] = power(fmaf(s[n][2], unit, -base1)); s[n][3] = power(fmaf(s[n][3], unit, -base1));
      sum0 += s[n][0] + s[n][1]; sum1 += s[n][2] + s[n][3];
    }
#pragma unroll
    for (int k = 0; k < KEYS / 16; ++k) {
      if (k * 16 >= live) continue;
      const u32 p[4] = {both(s[2 * k][0], s[2 * k][1]), both(s[2 * k][2], s[2 * k][3]),
                        both(s[2 * k + 1][0], s[2 * k + 1][1]), both(s[2 * k + 1][2], s[2 * k + 1][3])};
#pragma unroll
      for (int n = 0; n < DV / 16; ++n) {
        u32 v0, v1, v2, v3;
        const u16* at = vt + (k * 16 + (lane & 15)) * (DV + 8) + n * 16 + (lane >> 4) * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v0), "=r"(v1), "=r"(v2), "=r"(v3) : "r"((u32)__cvta_generic_to_shared(at)));
        mma(out[2 * n], p, v0, v1);
        mma(out[2 * n + 1], p, v2, v3);
      }
    }
    }
    if (STAGES == 1 && first + KEYS < COLUMNS) {
      __syncthreads();
      fetch_tile<D, K_ROW>(ks[0], key, first + KEYS);
      fetch_tile<DV, V_ROW>(vs[0], value, first + KEYS);
      asm volatile("cp.async.commit_group;");
    }
    stage ^= 1;
  }
  for (int step = 1; step < 4; step <<= 1) {
    sum0 += __shfl_xor_sync(0xffffffffu, sum0, step);
    sum1 += __shfl_xor_sync(0xffffffffu, sum1, step);
  }
#pragma unroll
  for (int n = 0; n < DV / 8; ++n) {
    const i64 c = n * 8 + 2 * t;
    if (r0 < ROWS) *(u32*)(y + r0 * (i64)Y_ROW + c) = both(out[n][0] / sum0, out[n][1] / sum0);
    if (r1 < ROWS) *(u32*)(y + r1 * (i64)Y_ROW + c) = both(out[n][2] / sum1, out[n][3] / sum1);
  }
}
)cuda";

// A mask that is the same for all rows is read once per tile.
bool is_row_mask(const AttentionShape& a) { return a.has_mask && a.mask_steps[2] == 0; }

std::string row_mask_text(const AttentionShape& a, DType type) {
  if (!is_row_mask(a)) return "0";
  const std::string at = format("load(mask[b * {}ll + h * {}ll + j * {}ll])", a.mask_steps[0],
                                a.mask_steps[1], a.mask_steps[3]);
  const std::string value = type == DType::boolean
                                ? format("({} ? 0.0f : -INFINITY)", at)
                                : format("((float){} * (float){})", at, literal(kLog2e));
  return a.mask_columns < a.columns ? format("(j >= {} ? -INFINITY : {})", a.mask_columns, value)
                                    : value;
}

std::string mask_text(const AttentionShape& a, DType type) {
  if (!a.has_mask || is_row_mask(a)) return "";
  const std::string at = format("load(mask[b * {}ll + h * {}ll + (i64)r * {} + (i64)j * {}])",
                                a.mask_steps[0], a.mask_steps[1], a.mask_steps[2], a.mask_steps[3]);
  const std::string use = type == DType::boolean
                              ? format("if (!{}) v = -INFINITY;", at)
                              : format("v += (float){} * (float){};", at, literal(kLog2e));
  const std::string inside = format("if (j < {} && r < {}) {{ {} }}", a.mask_columns, a.rows, use);
  return a.mask_columns < a.columns
             ? inside + format(" else if (j >= {}) v = -INFINITY;", a.mask_columns)
             : inside;
}

std::string steps_text(std::string_view name, const HeadSteps& steps) {
  return format("#define {0}_BATCH {1}ll\n#define {0}_HEAD {2}ll\n#define {0}_ROW {3}\n", name,
                steps.batch, steps.head, steps.row);
}

bool whole(const HeadSteps& steps) {
  return steps.batch % 8 == 0 && steps.head % 8 == 0 && steps.row % 8 == 0;
}

}  // namespace

std::string flash_source(const AttentionShape& a, DType type, DType mask_type, int64_t warps) {
  const bool two_stages = 4 * kKeys * (a.size + a.value_size + 17) <= (48 << 10);
  std::string text = format(
      "#define KIND \"{}\"\n#define W {}\n#define KEYS {}\n#define D {}\n#define DV {}\n#define "
      "ROWS "
      "{}\n#define COLUMNS {}\n#define HEADS {}\n#define GROUP {}\n#define STAGES {}\n#define "
      "SCALE "
      "((float){})\n#define MASK {}\n#define MASKED {}\n#define ROW_MASK {}\n#define ROW_MASK_AT "
      "{}\n#define "
      "RAW {}\n",
      type == DType::f16 ? "f16" : "bf16", warps, kKeys, a.size, a.value_size, a.rows, a.columns,
      a.heads, a.group(), two_stages ? 2 : 1, literal(static_cast<double>(a.scale) * kLog2e),
      a.has_mask ? cuda_name(mask_type) : "u16", mask_text(a, mask_type), is_row_mask(a) ? 1 : 0,
      row_mask_text(a, mask_type), !a.has_mask && a.scale > 0 ? 1 : 0);
  text += steps_text("Q", a.q) + steps_text("K", a.key.read) + steps_text("V", a.value.read) +
          steps_text("Y", a.y);
  return text + kBody;
}

bool can_run_flash(const AttentionShape& a, DType type) {
  const auto gpus = Gpu::used();
  return (type == DType::f16 || type == DType::bf16) && !gpus.empty() &&
         gpus[0]->capability() >= 80 && a.size % 16 == 0 && a.value_size % 16 == 0 &&
         a.size <= kMostSize && a.value_size <= kMostSize && whole(a.q) && whole(a.key.read) &&
         whole(a.value.read) && whole(a.y) && a.rows < (1 << 30) && a.columns < (1 << 30);
}

Result<FlashAttention> make_flash(const AttentionShape& a, DType type, DType mask_type) {
  constexpr int64_t kMultiprocessors = 132;
  const int64_t heads = a.batch * a.heads;
  // Larger blocks reuse each tile of keys for more rows, as long as the grid still fills the GPU.
  int64_t warps = 8;
  while (warps > 2 && heads * ceil_div(a.rows, 16 * warps) < 2 * kMultiprocessors) warps /= 2;
  FlashAttention made;
  made.blocks = static_cast<size_t>(heads * ceil_div(a.rows, 16 * warps));
  made.threads = static_cast<unsigned>(32 * warps);
  ANYNPU_ASSIGN(made.kernel, JitKernel::make(flash_source(a, type, mask_type, warps)));
  return made;
}

bool FlashAttention::aligned(const ops::RunArgs& args) {
  return std::all_of(
             args.inputs.begin(), args.inputs.begin() + 3,
             [](const std::byte* at) { return reinterpret_cast<uintptr_t>(at) % 16 == 0; }) &&
         reinterpret_cast<uintptr_t>(args.outputs[0]) % 16 == 0;
}

Status FlashAttention::enqueue(const ops::RunArgs& args, CudaQueue& queue, bool has_mask) const {
  const void *q = args.inputs[0], *key = args.inputs[1], *value = args.inputs[2];
  const void* mask = has_mask ? args.inputs[3] : nullptr;
  void* y = args.outputs[0];
  void* arguments[] = {&q, &key, &value, &mask, &y};
  return kernel->launch(queue, blocks, threads, arguments);
}

}  // namespace anynpu::device::cuda
