// SPDX-License-Identifier: Apache-2.0
// What generated CUDA C++ needs to compile as C++. Included before the source of a kernel; the
// source is followed by HOST_KERNEL, which defines the function that driver.cpp calls.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

struct dim3_ {
  unsigned x = 1, y = 1, z = 1;
};
static dim3_ threadIdx, blockIdx, blockDim, gridDim;

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#undef INFINITY
#define NAN_ __builtin_nanf("")

struct ulonglong2 {
  unsigned long long x, y;
};
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};

template <typename T, typename F>
static T bits_as(F value) {
  T result;
  memcpy(&result, &value, sizeof result);
  return result;
}
static float __int_as_float(int v) { return bits_as<float>(v); }
static float __uint_as_float(unsigned v) { return bits_as<float>(v); }
static unsigned __float_as_uint(float v) { return bits_as<unsigned>(v); }
static int __float_as_int(float v) { return bits_as<int>(v); }
static double __longlong_as_double(long long v) { return bits_as<double>(v); }
static long long __double_as_longlong(double v) { return bits_as<long long>(v); }
static float host_from_half(unsigned short v) { return bits_as<_Float16>(v); }
static unsigned short host_to_half(float v) { return bits_as<unsigned short>((_Float16)v); }
static float __fdividef(float a, float b) { return a / b; }
static float rsqrt(float v) { return 1 / sqrtf(v); }
static double rsqrt(double v) { return 1 / ::sqrt(v); }
#define __expf(v) expf(v)
static double cospi(double v) { return ::cos(v * M_PI); }
static void sincospi(double v, double* s, double* c) {
  *s = ::sin(v * M_PI);
  *c = ::cos(v * M_PI);
}
static float __fmul_rn(float a, float b) { return a * b; }
static float __fadd_rn(float a, float b) { return a + b; }
static double __dmul_rn(double a, double b) { return a * b; }
static int __popc(unsigned v) { return __builtin_popcount(v); }
static int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static int __ffs(int v) { return __builtin_ffs(v); }
static void __threadfence() {}
static void __threadfence_system() {}
template <typename T>
static T __ldg(const T* p) {
  return *p;
}
template <typename T, typename U>
static auto min(T a, U b) -> decltype(a + b) {
  return b < a ? b : a;
}
template <typename T, typename U>
static auto max(T a, U b) -> decltype(a + b) {
  return a < b ? b : a;
}
template <typename T, typename V>
static T atomicAdd(T* p, V v) {
  const T old = *p;
  *p = old + (T)v;
  return old;
}
template <typename T, typename V>
static T atomicCAS(T* p, V expected, V v) {
  const T old = *p;
  if (old == (T)expected) *p = (T)v;
  return old;
}

// Fibers: one for each thread of a block, switched at barriers.
struct HostBarrier {
  int live = 0, arrived = 0;
  unsigned round = 0;
  void check() {
    if (arrived > 0 && arrived >= live) {
      arrived = 0;
      ++round;
    }
  }
};
struct HostFiber {
  ucontext_t context;
  unsigned index = 0;
  bool done = false;
};
static ucontext_t host_scheduler;
static HostFiber* host_fiber = nullptr;  // null where threads run one after another
static HostBarrier host_block, host_warps[64];
static uint64_t host_slots[2048];

static void host_wait(HostBarrier& barrier) {
  const unsigned round = barrier.round;
  ++barrier.arrived;
  barrier.check();
  while (barrier.round == round) {
    HostFiber* const self = host_fiber;
    swapcontext(&self->context, &host_scheduler);
  }
}
static void __syncthreads() { host_wait(host_block); }
static void __syncwarp(unsigned = 0xffffffffu) { host_wait(host_warps[threadIdx.x / 32]); }
template <typename T>
static T host_exchange(T value, unsigned lane) {
  HostBarrier& warp = host_warps[threadIdx.x / 32];
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  host_slots[threadIdx.x] = bits;
  host_wait(warp);
  bits = host_slots[threadIdx.x / 32 * 32 + lane];
  host_wait(warp);
  T other;
  memcpy(&other, &bits, sizeof other);
  return other;
}
template <typename T>
static T __shfl_xor_sync(unsigned, T value, int mask) {
  return host_exchange(value, (threadIdx.x % 32) ^ (unsigned)mask);
}
template <typename T>
static T __shfl_down_sync(unsigned, T value, unsigned step) {
  const unsigned lane = threadIdx.x % 32;
  return host_exchange(value, lane + step < 32 ? lane + step : lane);
}
template <typename T>
static T __shfl_sync(unsigned, T value, int lane) {
  return host_exchange(value, (unsigned)lane % 32);
}

template <int... I>
struct HostIndices {};
template <int N, int... I>
struct HostRange : HostRange<N - 1, N - 1, I...> {};
template <int... I>
struct HostRange<0, I...> {
  typedef HostIndices<I...> type;
};
template <typename... A, int... I>
static void host_call_with(void (*function)(A...), void** arguments, HostIndices<I...>) {
  function(*(A*)arguments[I]...);
}
template <typename... A>
static void host_call_any(void (*function)(A...), void** arguments) {
  host_call_with(function, arguments, typename HostRange<sizeof...(A)>::type());
}

static void (*host_body)();
static void host_fiber_main() {
  host_body();
  host_fiber->done = true;
  HostBarrier& warp = host_warps[host_fiber->index / 32];
  --host_block.live;
  --warp.live;
  host_block.check();
  warp.check();
  swapcontext(&host_fiber->context, &host_scheduler);
}

// Runs a block of threads that meet at barriers.
static void host_run_fibers(unsigned threads, void (*body)()) {
  constexpr size_t kStack = 128 << 10;
  static HostFiber* const fibers = new HostFiber[1024];
  static char* const stacks = new char[1024 * kStack];
  host_body = body;
  host_block = {(int)threads, 0, 0};
  for (unsigned w = 0; w < 64; ++w) {
    const int left = (int)threads - (int)w * 32;
    host_warps[w] = {left > 32 ? 32 : left, 0, 0};
  }
  for (unsigned t = 0; t < threads; ++t) {
    HostFiber& fiber = fibers[t];
    fiber.index = t;
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks + t * kStack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &host_scheduler;
    makecontext(&fiber.context, host_fiber_main, 0);
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned t = 0; t < threads; ++t) {
      if (fibers[t].done) continue;
      any = true;
      host_fiber = &fibers[t];
      threadIdx.x = t;
      swapcontext(&host_scheduler, &fibers[t].context);
    }
  }
  host_fiber = nullptr;
}

static void** host_arguments;

#define HOST_KERNEL(has_barriers)                                                    \
  static void host_thread() { host_call_any(&kernel, host_arguments); }              \
  extern "C" void host_launch(unsigned blocks, unsigned threads, void** arguments) { \
    host_arguments = arguments;                                                      \
    gridDim.x = blocks;                                                              \
    blockDim.x = threads;                                                            \
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {                        \
      if (has_barriers) {                                                            \
        host_run_fibers(threads, host_thread);                                       \
      } else {                                                                       \
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) host_thread();   \
      }                                                                              \
    }                                                                                \
  }
