// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver.h"

#include <dlfcn.h>

// cuda.h maps some functions to versioned symbols with macros (cuMemFree is cuMemFree_v2). Expand
// the macro before stringizing to get the symbol that the library exports.
#define ANYNPU_CUDA_NAME_(name) #name
#define ANYNPU_CUDA_NAME(name) ANYNPU_CUDA_NAME_(name)

namespace anynpu::device::cuda {

namespace {

constexpr int kOldestDriver = 13000;  // CUDA 13.0, the version of the headers

Driver loaded;

Result<const Driver*> load() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return fail(Code::unsupported_feature,
                "NVIDIA's driver library cannot be opened ({}); install the driver of your GPU "
                "(version 580 or later), or use ANYNPU_DEVICES=cpu",
                dlerror());
  }
  struct Symbol {
    const char* name;
    void** address;
  };
  const Symbol symbols[] = {
#define X(name) {ANYNPU_CUDA_NAME(name), reinterpret_cast<void**>(&loaded.name)},
#include "cuda/driver.def"
#undef X
  };
  for (const Symbol& symbol : symbols) {
    *symbol.address = dlsym(library, symbol.name);
    if (!*symbol.address) {
      return fail(Code::unsupported_feature,
                  "libcuda.so.1 has no function {}: the driver is too old; install version 580 or "
                  "later",
                  symbol.name);
    }
  }
  if (const CUresult result = loaded.cuInit(0); result == CUDA_ERROR_NO_DEVICE) {
    return fail(
        Code::unsupported_feature,
        "the NVIDIA driver sees no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES, or use "
        "ANYNPU_DEVICES=cpu");
  } else {
    ANYNPU_TRY(cuda_status(result, "starting the NVIDIA driver"));
  }
  int version = 0;
  ANYNPU_TRY(cuda_status(loaded.cuDriverGetVersion(&version), "asking for the driver's version"));
  if (version < kOldestDriver) {
    return fail(
        Code::unsupported_feature,
        "the NVIDIA driver offers CUDA {}.{}, expected 13.0 or later; install driver version "
        "580 or later",
        version / 1000, version % 1000 / 10);
  }
  return &loaded;
}

Code cause_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return Code::out_of_memory;
    case CUDA_ERROR_INVALID_VALUE:
      return Code::invalid_argument;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
      return Code::invalid_device;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_STUB_LIBRARY:
      return Code::unsupported_feature;
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return Code::kernel_timeout;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
      return Code::kernel_failed;
    default:
      return Code::task_failed;
  }
}

}  // namespace

Result<const Driver*> open_driver() {
  static const auto* const opened = new Result<const Driver*>(load());
  return *opened;
}

const Driver& driver() { return loaded; }

Status cuda_status(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return {};
  const char *name = nullptr, *text = nullptr;
  if (loaded.cuGetErrorName) loaded.cuGetErrorName(result, &name);
  if (loaded.cuGetErrorString) loaded.cuGetErrorString(result, &text);
  return fail(cause_of(result), "{}: the NVIDIA driver said {} ({}, code {})", what,
              text ? text : "something unknown", name ? name : "no name", static_cast<int>(result));
}

}  // namespace anynpu::device::cuda
