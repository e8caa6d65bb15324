// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/warp_norm.h"

#include "base/align.h"

namespace anynpu::device::cuda {

namespace {

constexpr int64_t kPack = 8;       // elements in 16 bytes
constexpr int64_t kMostPacks = 8;  // per thread
constexpr int64_t kMultiprocessors = 132;

}  // namespace

bool can_run_warp_norm(const WarpNorm& norm) {
  return (norm.type == DType::f16 || norm.type == DType::bf16) && norm.rows > 0 &&
         norm.length % kPack == 0 && norm.length > 0 && norm.length <= 32 * kPack * kMostPacks;
}

std::string warp_norm_source(const WarpNorm& norm, unsigned warps) {
  const int64_t packs = norm.length / kPack, each = ceil_div(packs, int64_t{32});
  return format(
      "typedef float C; typedef Pack<{0}> P;\n"
      "__device__ __forceinline__ C all(C v) {{ for (int s = 16; s > 0; s >>= 1) v += "
      "__shfl_xor_sync(0xffffffffu, v, s); return v; }}\n"
      "extern \"C\" __global__ void kernel(const P* x, const P* scale, const P* shift, P* y) {{\n"
      "  const i64 row = blockIdx.x * {1}ll + (threadIdx.x >> 5); if (row >= {2}) return;\n"
      "  const int lane = threadIdx.x & 31; C v[{3}][8]; C sum = 0, square = 0; P f[{3}]{8};\n"
      "#pragma unroll\n  for (int j = 0; j < {3}; ++j) {{\n"
      "    const int at = lane + 32 * j; const bool inside = at < {4}; P p;\n"
      "    if (inside) {{ p = x[row * {4} + at]; f[j] = scale[at]; {10} }}\n"
      "#pragma unroll\n    for (int k = 0; k < 8; ++k) {{ v[j][k] = inside ? load(p.v[k]) : 0; sum "
      "+= "
      "v[j][k]; }}\n  }}\n"
      "  const C mean = {5} ? all(sum) / {6} : 0;\n"
      "#pragma unroll\n  for (int j = 0; j < {3}; ++j)\n#pragma unroll\n    for (int k = 0; k < 8; "
      "++k) if (lane + 32 * j < {4}) {{ const C d = v[j][k] - mean; square += d * d; }}\n"
      "  const C inverse = 1 / sqrtf(all(square) / {6} + (C){7});\n"
      "#pragma unroll\n  for (int j = 0; j < {3}; ++j) {{\n    const int at = lane + 32 * j; if "
      "(at >= "
      "{4}) break;\n    P out;\n#pragma unroll\n    for (int k = 0; k < 8; "
      "++k) store(out.v[k], (v[j][k] - mean) * inverse * load(f[j].v[k]){9});\n"
      "    y[row * {4} + at] = out;\n  }}\n}}\n",
      cuda_name(norm.type), warps, norm.rows, each, packs, norm.centred ? 1 : 0, norm.length,
      literal(norm.epsilon), norm.shift ? format(", b[{}]", each) : std::string(),
      norm.shift ? " + load(b[j].v[k])" : "", norm.shift ? "b[j] = shift[at];" : "");
}

Result<WarpNormKernel> make_warp_norm(const WarpNorm& norm) {
  const unsigned warps = norm.rows >= 8 * kMultiprocessors ? 4 : 1;
  WarpNormKernel made;
  made.threads = 32 * warps;
  made.blocks = static_cast<size_t>(ceil_div(norm.rows, static_cast<int64_t>(warps)));
  ANYNPU_ASSIGN(made.kernel, JitKernel::make(warp_norm_source(norm, warps)));
  return made;
}

}  // namespace anynpu::device::cuda
