// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/compiler.h"

#include <nvrtc.h>

#include <map>
#include <mutex>
#include <vector>

#include "cuda/kernels/disk_cache.h"
#include "cuda/kernels/library.h"

namespace anynpu::device::cuda {

namespace {

#define ANYNPU_NVRTC_FUNCTIONS(X) \
  X(nvrtcGetErrorString)          \
  X(nvrtcVersion)                 \
  X(nvrtcCreateProgram)           \
  X(nvrtcDestroyProgram)          \
  X(nvrtcCompileProgram)          \
  X(nvrtcGetProgramLogSize)       \
  X(nvrtcGetProgramLog)           \
  X(nvrtcGetCUBINSize)            \
  X(nvrtcGetCUBIN)

constexpr int kHopper = 90;  // has programmatic dependent launch

struct Nvrtc {
#define X(name) decltype(&::name) name = nullptr;
  ANYNPU_NVRTC_FUNCTIONS(X)
#undef X
};

Result<Nvrtc> load_nvrtc() {
  constexpr const char* kFile = "libnvrtc.so.13";
  ANYNPU_ASSIGN(void* const library, open_library(kFile, "nvidia-cuda-nvrtc"));
  Nvrtc nvrtc;
#define X(name)                                                           \
  {                                                                       \
    ANYNPU_ASSIGN(void* const found, function_of(library, kFile, #name)); \
    nvrtc.name = reinterpret_cast<decltype(nvrtc.name)>(found);           \
  }
  ANYNPU_NVRTC_FUNCTIONS(X)
#undef X
  return nvrtc;
}

const Result<Nvrtc>& nvrtc() {
  static const auto* const loaded = new Result<Nvrtc>(load_nvrtc());
  return *loaded;
}

// Prepended to every source. 16-bit floats are structs, because NVRTC comes without cuda_fp16.h;
// load() and store() convert them, and kernels compute in float.
constexpr const char* kPrelude = R"cuda(
typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef short i16;
typedef unsigned int u32; typedef int i32; typedef unsigned long long u64; typedef long long i64;
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct boolean { u8 bits; };
template <typename T> struct wide { typedef T type; };
template <> struct wide<f16> { typedef float type; };
template <> struct wide<bf16> { typedef float type; };
template <> struct wide<boolean> { typedef bool type; };
template <typename T> __device__ __forceinline__ typename wide<T>::type load(const T& x) { return x; }
template <> __device__ __forceinline__ float load(const f16& x) {
  float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y;
}
template <> __device__ __forceinline__ float load(const bf16& x) { return __uint_as_float((u32)x.bits << 16); }
template <> __device__ __forceinline__ bool load(const boolean& x) { return x.bits != 0; }
template <typename T, typename V> __device__ __forceinline__ void store(T& y, V x) { y = (T)x; }
template <typename V> __device__ __forceinline__ void store(f16& y, V x) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"((float)x));
}
template <typename V> __device__ __forceinline__ void store(bf16& y, V x) {
  const float f = (float)x; u32 bits = __float_as_uint(f);
  y.bits = f != f ? 0x7fc0 : (u16)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
template <typename V> __device__ __forceinline__ void store(boolean& y, V x) { y.bits = x ? 1 : 0; }
// NaN wins, as in numpy.
template <typename T> __device__ __forceinline__ T lower(T a, T b) { return a != a || a < b ? a : b; }
template <typename T> __device__ __forceinline__ T higher(T a, T b) { return a != a || a > b ? a : b; }
// Integers of floats as processors make them: outside of 64 bits the most negative.
__device__ __forceinline__ i64 whole(double v) {
  return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (i64)v : (i64)0x8000000000000000ull;
}
__device__ __forceinline__ u64 whole_u64(double v) {
  return v >= 9223372036854775808.0 && v < 18446744073709551616.0 ? (u64)v : (u64)whole(v);
}
template <typename T> __device__ __forceinline__ T floor_mod(T a, T b) {
  const T r = fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
// v * (1 + erf(v / sqrt(2))) / 2 for results of 16 bits, within 3.1e-6: v / (1 + exp(-2 g)), where
// tanh(g) is the error function and g / v a polynomial of v squared.
__device__ __forceinline__ float gelu16(float v) {
  const float t = fminf(v * v, 30.0f);
  float p = 1.1190853e-6f; p = fmaf(p, t, -3.0581060e-5f); p = fmaf(p, t, -1.2486137e-4f);
  p = fmaf(p, t, 3.6468791e-2f); p = fmaf(p, t, 0.79782814f);
  float e; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(-2.8853901f * v * p));
  return __fdividef(v, 1.0f + e);
}
// Tells the host that a value lies outside (cuda/faults.h).
__device__ __forceinline__ void fault(volatile i64* board, i64 number, i64 value, i64 extent) {
  board[1] = value; board[2] = extent; __threadfence_system(); board[0] = number;
}
#define INFINITY __int_as_float(0x7f800000)
// What one access of 16 bytes moves.
template <typename T> struct alignas(16) Pack { T v[16 / sizeof(T)]; };
)cuda";

Result<std::vector<char>> compile(const Nvrtc& nvrtc, const std::string& source, int capability) {
  nvrtcProgram program = nullptr;
  if (const nvrtcResult made =
          nvrtc.nvrtcCreateProgram(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
      made != NVRTC_SUCCESS) {
    return fail(Code::internal, "NVRTC: {}", nvrtc.nvrtcGetErrorString(made));
  }
  const std::string architecture = format("--gpu-architecture=sm_{}", capability);
  const char* const options[] = {architecture.c_str(), "--std=c++17", "--fmad=true",
                                 "--prec-div=true", "--prec-sqrt=true"};
  const nvrtcResult result = nvrtc.nvrtcCompileProgram(program, std::size(options), options);
  std::vector<char> code;
  Status status;
  if (result == NVRTC_SUCCESS) {
    size_t bytes = 0;
    nvrtc.nvrtcGetCUBINSize(program, &bytes);
    code.resize(bytes);
    nvrtc.nvrtcGetCUBIN(program, code.data());
  } else {
    size_t bytes = 0;
    nvrtc.nvrtcGetProgramLogSize(program, &bytes);
    std::string log(bytes, ' ');
    nvrtc.nvrtcGetProgramLog(program, log.data());
    status = fail(Code::internal, "NVRTC refused a generated kernel: {}\n{}", log, source);
  }
  nvrtc.nvrtcDestroyProgram(&program);
  if (!status.ok()) return status;
  return code;
}

Result<std::vector<char>> compiled(const std::string& source, int capability) {
  if (!nvrtc().ok()) return nvrtc().status();
  int major = 0, minor = 0;
  nvrtc()->nvrtcVersion(&major, &minor);
  const std::string key = format("sm_{} nvrtc {} {}", capability, major * 100 + minor, source);
  if (auto cached = read_cached(key)) return std::move(*cached);
  ANYNPU_ASSIGN(std::vector<char> code, compile(*nvrtc(), source, capability));
  write_cached(key, code);
  return code;
}

}  // namespace

bool uses_programmatic_launch(const Gpu& gpu) { return gpu.capability() >= kHopper; }

namespace {

// Inserts the two instructions of programmatic dependent launch at the start of the kernel: wait
// for the previous kernel, then let the next one start.
std::string with_programmatic_launch(const Gpu& gpu, std::string source) {
  const size_t at = source.find('{', source.find("__global__"));
  if (uses_programmatic_launch(gpu) && at != std::string::npos) {
    source.insert(at + 1,
                  "\n  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
                  "  asm volatile(\"griddepcontrol.launch_dependents;\");\n");
  }
  return source;
}

}  // namespace

Status compiler_available() { return nvrtc().ok() ? Status() : nvrtc().status(); }

Status check_source(const std::string& source, int capability) {
  ANYNPU_TRY(compiler_available());
  return compile(*nvrtc(), kPrelude + source, capability).status();
}

Result<CUfunction> compile_kernel(const Gpu& gpu, const std::string& source) {
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<std::pair<int, std::string>, CUfunction>;
  const std::lock_guard lock(mutex);
  CUfunction& function = known[{gpu.unit(), source}];
  if (function) return function;
  ANYNPU_ASSIGN(const std::vector<char> code,
                compiled(kPrelude + with_programmatic_launch(gpu, source), gpu.capability()));
  ANYNPU_TRY(gpu.enter());
  CUmodule module = nullptr;
  ANYNPU_TRY(cuda_status(driver().cuModuleLoadData(&module, code.data()), "loading a kernel"));
  ANYNPU_TRY(
      cuda_status(driver().cuModuleGetFunction(&function, module, "kernel"), "finding a kernel"));
  return function;
}

}  // namespace anynpu::device::cuda
