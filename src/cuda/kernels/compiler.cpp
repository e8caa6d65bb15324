// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/compiler.h"

#include <nvrtc.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "base/content_hash.h"
#include "base/env.h"
#include "base/mapped_file.h"
#include "base/whole_file.h"
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

struct Nvrtc {
#define X(name) decltype(&::name) name = nullptr;
  ANYNPU_NVRTC_FUNCTIONS(X)
#undef X
};

Result<Nvrtc> load_nvrtc() {
  constexpr const char* kFile = "libnvrtc.so.13";
  ANYNPU_ASSIGN(void* const library, open_library(kFile, "nvidia-cuda-nvrtc"));
  Nvrtc nvrtc;
#define X(name)                                                         \
  {                                                                     \
    ANYNPU_ASSIGN(void* const found, function_of(library, kFile, #name)); \
    nvrtc.name = reinterpret_cast<decltype(nvrtc.name)>(found);         \
  }
  ANYNPU_NVRTC_FUNCTIONS(X)
#undef X
  return nvrtc;
}

const Result<Nvrtc>& nvrtc() {
  static const auto* const loaded = new Result<Nvrtc>(load_nvrtc());
  return *loaded;
}

// Short floats as bits: NVRTC comes without cuda_fp16.h. Every kernel computes in float.
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
#define INFINITY __int_as_float(0x7f800000)
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

std::string file_of(const std::string& source, int capability, int version) {
  const std::string folder = env::cache_path();
  if (folder.empty()) return {};
  const std::string text = format("sm_{} nvrtc {} {}", capability, version, source);
  return format("{}/cuda/{}.cubin", folder, content_hash(std::as_bytes(std::span(text))));
}

Result<std::vector<char>> compiled(const std::string& source, int capability) {
  if (!nvrtc().ok()) return nvrtc().status();
  int major = 0, minor = 0;
  nvrtc()->nvrtcVersion(&major, &minor);
  const std::string path = file_of(source, capability, major * 100 + minor);
  if (!path.empty()) {
    if (const auto file = MappedFile::open_own(path); file.ok()) {
      const auto bytes = (*file)->bytes();
      return std::vector<char>(reinterpret_cast<const char*>(bytes.data()),
                               reinterpret_cast<const char*>(bytes.data()) + bytes.size());
    }
  }
  ANYNPU_ASSIGN(std::vector<char> code, compile(*nvrtc(), source, capability));
  if (!path.empty()) {
    const std::span<const std::byte> parts[] = {std::as_bytes(std::span(code))};
    std::error_code none;
    const auto folder = std::filesystem::path(path).parent_path();
    std::filesystem::create_directories(folder, none);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, none);
    (void)write_file_atomically(path, parts, Durability::unsynced);
  }
  return code;
}

}  // namespace

Result<CUfunction> compile_kernel(const Gpu& gpu, const std::string& source) {
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<std::pair<int, std::string>, CUfunction>;
  const std::lock_guard lock(mutex);
  CUfunction& function = known[{gpu.unit(), source}];
  if (function) return function;
  ANYNPU_ASSIGN(const std::vector<char> code, compiled(kPrelude + source, gpu.capability()));
  ANYNPU_TRY(gpu.enter());
  CUmodule module = nullptr;
  ANYNPU_TRY(cuda_status(driver().cuModuleLoadData(&module, code.data()), "loading a kernel"));
  ANYNPU_TRY(
      cuda_status(driver().cuModuleGetFunction(&function, module, "kernel"), "finding a kernel"));
  return function;
}

}  // namespace anynpu::device::cuda
