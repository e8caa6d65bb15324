// SPDX-License-Identifier: Apache-2.0
// What `anynpu doctor` shows about GPUs: a C function of the plug-in, so that it can be asked
// without choosing a GPU as a device.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "base/json.h"
#include "cuda/driver.h"
#include "cuda/gpu.h"
#include "cuda/kernels/library.h"

namespace anynpu::device::cuda {

namespace {

constexpr struct {
  const char* file;
  const char* package;
  const char* use;
} kLibraries[] = {{"libnvrtc.so.13", "nvidia-cuda-nvrtc", "generated kernels"},
                  {"libcublasLt.so.13", "nvidia-cublas", "matrix products"},
                  {"libcudnn.so.9", "nvidia-cudnn-cu13", "convolutions"},
                  {"libcupti.so.13", "nvidia-cuda-cupti", "profiles"}};

json::Value library_row(const char* file, const char* package, const char* use) {
  json::Value row;
  row.set("file", file);
  row.set("use", use);
  const auto library = open_library(file, package);
  if (!library.ok()) {
    row.set("missing", library.status().message());
    return row;
  }
  const link_map* map = nullptr;
  if (dlinfo(*library, RTLD_DI_LINKMAP, &map) == 0 && map) row.set("path", map->l_name);
  return row;
}

json::Value report() {
  json::Value all;
  json::Array libraries, gpus;
  for (const auto& [file, package, use] : kLibraries)
    libraries.push_back(library_row(file, package, use));
  all.set("libraries", std::move(libraries));
  const auto driver = open_driver();
  if (!driver.ok()) {
    all.set("problem", driver.status().message());
    return all;
  }
  int version = 0, count = 0;
  (*driver)->cuDriverGetVersion(&version);
  (*driver)->cuDeviceGetCount(&count);
  all.set("cuda", format("{}.{}", version / 1000, version % 1000 / 10));
  for (int unit = 0; unit < count; ++unit) {
    const auto gpu = Gpu::find(unit);
    json::Value row;
    row.set("unit", unit);
    if (gpu.ok()) {
      row.set("name", (*gpu)->name());
      row.set("memory", static_cast<uint64_t>((*gpu)->memory_bytes()));
    } else {
      row.set("problem", gpu.status().message());
    }
    gpus.push_back(std::move(row));
  }
  all.set("gpus", std::move(gpus));
  return all;
}

}  // namespace

}  // namespace anynpu::device::cuda

// Writes a JSON object, cut to `bytes` and always terminated: "libraries" (file, use, and path or
// missing), "problem" of the driver, or "cuda" (the driver's version) and "gpus" (unit, and name
// and memory or problem).
extern "C" __attribute__((visibility("default"))) void anynpu_cuda_report(char* text,
                                                                          size_t bytes) {
  if (!text || bytes == 0) return;
  const std::string all = anynpu::device::cuda::report().dump();
  const size_t length = std::min(all.size(), bytes - 1);
  std::memcpy(text, all.data(), length);
  text[length] = '\0';
}
