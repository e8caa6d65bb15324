// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/peaks.h"

#include <cmath>
#include <cstring>

#include "base/log.h"
#include "cuda/kernels/autotuner.h"
#include "cuda/kernels/disk_cache.h"
#include "cuda/kernels/product.h"
#include "cuda/transfer.h"

namespace anynpu::device::cuda {

namespace {

constexpr size_t kCopied = size_t{256} << 20;  // more than any cache
constexpr int64_t kSide16 = 8192, kSide32 = 4096;

Result<double> bytes_per_second(const Gpu& gpu, Autotuner& tuner) {
  ANYNPU_ASSIGN(void* const from, tuner.allocate_random(kCopied / 4, DType::f32));
  ANYNPU_ASSIGN(void* const to, tuner.allocate(kCopied));
  const double us = tuner.time([&](CUstream stream) {
    return enqueue_copy(gpu, {to, from, kCopied}, stream);
  });
  return 2.0 * static_cast<double>(kCopied) / us * 1e6;
}

Result<double> flops(const Gpu& gpu, Autotuner& tuner, DType type, int64_t side) {
  const auto count = static_cast<size_t>(side * side);
  ANYNPU_ASSIGN(void* const a, tuner.allocate_random(count, type));
  ANYNPU_ASSIGN(void* const b, tuner.allocate_random(count, type));
  ANYNPU_ASSIGN(void* const y, tuner.allocate(count * size_of(type)));
  ANYNPU_ASSIGN(
      const auto product,
      Product::make(
          {.type = type, .m = side, .n = side, .k = side, .lda = side, .ldb = side, .ldy = side}));
  ANYNPU_ASSIGN(void* const workspace, tuner.allocate(product->workspace_bytes()));
  const double us = tuner.time([&](CUstream stream) {
    return product->enqueue(gpu, stream, {.a = a, .b = b, .y = y, .workspace = workspace});
  });
  return 2.0 * std::pow(static_cast<double>(side), 3) / us * 1e6;
}

Result<DevicePeaks> measure(const Gpu& gpu) {
  ANYNPU_ASSIGN(const auto tuner, Autotuner::on(gpu));
  DevicePeaks peaks;
  ANYNPU_ASSIGN(peaks.bytes, bytes_per_second(gpu, *tuner));
  ANYNPU_ASSIGN(peaks.flops_16, flops(gpu, *tuner, DType::f16, kSide16));
  ANYNPU_ASSIGN(peaks.flops_32, flops(gpu, *tuner, DType::f32, kSide32));
  return peaks;
}

}  // namespace

DevicePeaks measure_peaks(const Gpu& gpu) {
  DevicePeaks peaks;
  const std::string key = format("peaks of {}", gpu.name());
  if (const auto known = read_cached(key); known && known->size() == sizeof peaks) {
    std::memcpy(&peaks, known->data(), sizeof peaks);
    return peaks;
  }
  const auto measured = measure(gpu);
  if (!measured.ok()) {
    ANYNPU_LOG(warning, "the peaks of {} were not measured: {}", gpu.name(),
               measured.status().to_string());
    return peaks;
  }
  peaks = *measured;
  write_cached(key, {reinterpret_cast<const char*>(&peaks), sizeof peaks});
  return peaks;
}

}  // namespace anynpu::device::cuda
