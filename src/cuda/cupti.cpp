// SPDX-License-Identifier: Apache-2.0
#include "cuda/cupti.h"

#include "cuda/kernels/library.h"

namespace anynpu::device::cuda {

namespace {

Result<Cupti> load_cupti() {
  constexpr const char* kFile = "libcupti.so.13";
  ANYNPU_ASSIGN(void* const library, open_library(kFile, "nvidia-cuda-cupti"));
  Cupti loaded;
#define X(name)                                                           \
  {                                                                       \
    ANYNPU_ASSIGN(void* const found, function_of(library, kFile, #name)); \
    loaded.name = reinterpret_cast<decltype(loaded.name)>(found);         \
  }
  ANYNPU_CUPTI_FUNCTIONS(X)
#undef X
  return loaded;
}

}  // namespace

const Result<Cupti>& cupti() {
  static const auto* const loaded = new Result<Cupti>(load_cupti());
  return *loaded;
}

}  // namespace anynpu::device::cuda
