// SPDX-License-Identifier: Apache-2.0
// The vector unit (VME) and the matrix unit (MME): element-wise arrays, and products of halves
// summed in float in the order of the inner dimension.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/format.h"
#include "npc/core.h"
#include "npc/cycles.h"
#include "npc/services.h"
#include "tensor/half.h"

namespace anynpu::npc {

namespace {

// An array of the kernel, or null after a trap.
template <typename T>
T* array(Core& core, uint32_t address, uint64_t count, Permission permission) {
  const uint64_t bytes = count * sizeof(T);
  std::byte* at =
      bytes >> 32 ? nullptr : core.at(address, static_cast<uint32_t>(bytes), permission);
  if (!at) {
    core.trap_access(address, static_cast<uint32_t>(std::min<uint64_t>(bytes, ~0u)),
                     permission & kWrite);
    return nullptr;
  }
  if (reinterpret_cast<uintptr_t>(at) % alignof(T) != 0) {
    core.set_trap(
        TrapKind::bad_address,
        format("an array of the vector or matrix unit starts at {:#x}, expected a multiple of {}",
               address, alignof(T)));
    return nullptr;
  }
  return reinterpret_cast<T*>(at);
}

bool refuse(Core& core, const char* what, int64_t value) {
  core.set_trap(TrapKind::service, format("{} is {}, outside its range", what, value));
  return false;
}

float load(float value) { return value; }
float load(F16 value) { return to_float(value); }
void store(float* to, float value) { *to = value; }
void store(F16* to, float value) { *to = to_f16(value); }

constexpr uint32_t kVectorOps = 6, kExp = 5;

float apply(uint32_t op, float a, float b) {
  switch (op) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return std::fmax(a, b);
    case 4:
      return a < 0 ? 0.0f : a;
    default:
      return std::exp(a);
  }
}

template <typename T>
bool run_vector(Core& core, uint32_t op, uint32_t count) {
  T* to = array<T>(core, core.x[12], count, kReadWrite);
  if (!to) return false;
  const T* a = array<T>(core, core.x[13], count, kRead);
  if (!a) return false;
  const T* b = array<T>(core, core.x[14], count, kRead);
  if (!b) return false;
  for (uint32_t i = 0; i < count; ++i) store(&to[i], apply(op, load(a[i]), load(b[i])));
  const uint64_t taken = cycles::vector(uint64_t{count} * sizeof(T), op == kExp);
  core.counters.events[kVME_CYCLE] += taken;
  core.clock += taken;
  return true;
}

// Work of the matrix unit costs budget too, so that no kernel runs forever: an instruction for
// sixteen multiply-adds. False when the budget does not cover it.
bool charge_matrix(Core& core, uint64_t multiply_adds) {
  const uint64_t cost = multiply_adds / 16;
  if (cost >= core.budget) {
    core.set_trap(TrapKind::budget,
                  format("{} multiply-adds, more than the kernel's budget covers", multiply_adds));
    return false;
  }
  core.budget -= cost;
  const uint64_t taken = cycles::matrix(multiply_adds);
  ++core.counters.events[kMME_INST];
  core.counters.events[kMME_CYCLE] += taken;
  core.clock += taken;
  return true;
}

template <typename T>
bool read_struct(Core& core, T& into) {
  const std::byte* at = core.at(core.x[10], sizeof(T), kRead);
  if (!at) {
    core.trap_access(core.x[10], sizeof(T), false);
    return false;
  }
  std::memcpy(&into, at, sizeof(T));
  return true;
}

struct Matmul {
  uint32_t to, a, b;
  int32_t m, k, n;
};

struct Conv2d {
  uint32_t to, input, weight;
  int32_t ci, h, w, co, kh, kw, stride, pad;
};

constexpr int32_t kMostSide = 1 << 24;

}  // namespace

bool serve_vector(Core& core) {
  const uint32_t op = core.x[10], type = core.x[11];
  const auto count = static_cast<int32_t>(core.x[15]);
  if (op >= kVectorOps) return refuse(core, "the vector operation", op);
  if (count < 0) return refuse(core, "the element count", count);
  ++core.counters.events[kVME_INST];
  return type == 0 ? run_vector<F16>(core, op, static_cast<uint32_t>(count))
                   : run_vector<float>(core, op, static_cast<uint32_t>(count));
}

bool serve_matmul(Core& core) {
  Matmul p;
  if (!read_struct(core, p)) return false;
  for (const int32_t side : {p.m, p.k, p.n}) {
    if (side < 0 || side > kMostSide) return refuse(core, "a side of npu_mmul", side);
  }
  const uint64_t m = p.m, k = p.k, n = p.n;
  float* to = array<float>(core, p.to, m * n, kReadWrite);
  if (!to) return false;
  const F16* a = array<F16>(core, p.a, m * k, kRead);
  if (!a) return false;
  const F16* b = array<F16>(core, p.b, k * n, kRead);
  if (!b) return false;
  if (!charge_matrix(core, m * k * n)) return false;
  for (uint64_t row = 0; row < m; ++row) {
    float* out = to + row * n;
    std::fill_n(out, n, 0.0f);
    for (uint64_t i = 0; i < k; ++i) {
      const float factor = to_float(a[row * k + i]);
      const F16* line = b + i * n;
      for (uint64_t column = 0; column < n; ++column)
        out[column] += factor * to_float(line[column]);
    }
  }
  return true;
}

bool serve_conv2d(Core& core) {
  Conv2d p;
  if (!read_struct(core, p)) return false;
  for (const int32_t side : {p.ci, p.h, p.w, p.co, p.kh, p.kw, p.stride}) {
    if (side < 1 || side > kMostSide) return refuse(core, "a size of npu_conv2d", side);
  }
  if (p.pad < 0 || p.pad > kMostSide) return refuse(core, "the padding of npu_conv2d", p.pad);
  const int64_t high = int64_t{p.h} + 2 * int64_t{p.pad} - p.kh;
  const int64_t wide = int64_t{p.w} + 2 * int64_t{p.pad} - p.kw;
  if (high < 0 || wide < 0) return refuse(core, "the window of npu_conv2d less its input", -1);
  const int64_t oh = high / p.stride + 1, ow = wide / p.stride + 1;
  if (int64_t{p.ci} * p.h > (int64_t{1} << 32) || int64_t{p.co} * oh > (int64_t{1} << 32) ||
      int64_t{p.co} * p.ci > (int64_t{1} << 32) || int64_t{p.kh} * p.kw > (int64_t{1} << 30)) {
    return refuse(core, "a product of sizes of npu_conv2d", p.ci);
  }
  float* to = array<float>(core, p.to, uint64_t(p.co * oh) * ow, kReadWrite);
  if (!to) return false;
  const F16* input = array<F16>(core, p.input, uint64_t(int64_t{p.ci} * p.h) * p.w, kRead);
  if (!input) return false;
  const F16* weight =
      array<F16>(core, p.weight, uint64_t(int64_t{p.co} * p.ci) * uint64_t(p.kh * p.kw), kRead);
  if (!weight) return false;
  const uint64_t window = uint64_t(p.ci) * uint64_t(p.kh * p.kw);
  if (!charge_matrix(core, uint64_t(p.co * oh * ow) * window)) return false;
  for (int64_t o = 0; o < p.co; ++o) {
    for (int64_t y = 0; y < oh; ++y) {
      for (int64_t x = 0; x < ow; ++x) {
        float sum = 0;
        for (int64_t c = 0; c < p.ci; ++c) {
          for (int64_t i = 0; i < p.kh; ++i) {
            const int64_t row = y * p.stride + i - p.pad;
            if (row < 0 || row >= p.h) continue;
            for (int64_t j = 0; j < p.kw; ++j) {
              const int64_t column = x * p.stride + j - p.pad;
              if (column < 0 || column >= p.w) continue;
              sum += to_float(input[(c * p.h + row) * p.w + column]) *
                     to_float(weight[((o * p.ci + c) * p.kh + i) * p.kw + j]);
            }
          }
        }
        to[(o * oh + y) * ow + x] = sum;
      }
    }
  }
  return true;
}

}  // namespace anynpu::npc
