// SPDX-License-Identifier: Apache-2.0
// NVRTC for tests without a GPU: kernels become shared objects of g++ (README.md). What it calls a
// cubin is the path of that file.
#include <nvrtc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

struct _nvrtcProgram {
  std::string source, path, log;
};

namespace {

namespace fs = std::filesystem;

// Inline assembly of the prelude, and what it computes.
constexpr struct {
  const char* from;
  const char* to;
} kAssembly[] = {
    {R"(asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));)", "y = host_from_half(x.bits);"},
    {R"(asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"((float)x));)",
     "y.bits = host_to_half((float)x);"},
    {R"(asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(-2.8853901f * v * p));)",
     "e = exp2f(-2.8853901f * v * p);"},
};

std::string as_cpp(std::string text) {
  for (const auto& [from, to] : kAssembly) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, std::strlen(from), to);
  }
  const bool barriers =
      text.find("__sync") != std::string::npos || text.find("__shfl") != std::string::npos;
  // In a namespace, so that its names may be those of the C library.
  return "#include \"host_kernel.h\"\nnamespace generated {\n" + text + "\nHOST_KERNEL(" +
         (barriers ? "true" : "false") + ")\n}\n";
}

std::string read_all(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

fs::path folder() {
  const char* const given = std::getenv("HOST_CUDA_CACHE");
  return given ? fs::path(given)
               : fs::temp_directory_path() / ("anynpu-host-cuda-" + std::to_string(getuid()));
}

nvrtcResult compile(_nvrtcProgram& program) {
  const char* const how = std::getenv("HOST_CUDA");
  const bool plan_only = how && std::string(how) == "plan";
  const std::string text =
      as_cpp(plan_only ? "extern \"C\" __global__ void kernel() {}" : program.source);
  if (text.find("asm(") != std::string::npos || text.find("asm volatile") != std::string::npos) {
    program.log = "the kernel has inline assembly";
    return NVRTC_ERROR_COMPILATION;
  }
  std::error_code none;
  fs::create_directories(folder(), none);
  const fs::path base = folder() / (std::to_string(std::hash<std::string>()(text)) + "_" +
                                    std::to_string(text.size()));
  const fs::path made = base.string() + ".so";
  program.path = made.string();
  if (fs::exists(made, none)) return NVRTC_SUCCESS;
  const std::string own = base.string() + "." + std::to_string(getpid());
  std::ofstream(own + ".cpp") << text;
  const std::string command = std::string("g++ -std=c++17 -O0 -w -shared -fPIC -I") +
                              HOST_CUDA_INCLUDE + " -o " + own + ".so " + own + ".cpp > " + own +
                              ".log 2>&1";
  const int code = std::system(command.c_str());
  program.log = read_all(own + ".log");
  fs::remove(own + ".log", none);
  if (code != 0) return NVRTC_ERROR_COMPILATION;
  fs::remove(own + ".cpp", none);
  fs::rename(own + ".so", made, none);
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_SUCCESS ? "success" : "the host compiler refused the kernel";
}
nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = 13, *minor = 99;  // apart from the real one in caches
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char*, int,
                               const char* const*, const char* const*) {
  *program = new _nvrtcProgram{source, {}, {}};
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int, const char* const*) {
  return compile(*program);
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  *bytes = program->log.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  *bytes = program->path.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* code) {
  std::memcpy(code, program->path.c_str(), program->path.size() + 1);
  return NVRTC_SUCCESS;
}

}  // extern "C"
