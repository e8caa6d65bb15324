// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/cudnn.h"

#include <map>

#include "cuda/kernels/library.h"

namespace anynpu::device::cuda {

namespace {

Result<Cudnn> load_cudnn() {
  constexpr const char* kFile = "libcudnn.so.9";
  ANYNPU_ASSIGN(void* const library, open_library(kFile, "nvidia-cudnn-cu13"));
  Cudnn loaded;
#define X(name)                                                           \
  {                                                                       \
    ANYNPU_ASSIGN(void* const found, function_of(library, kFile, #name)); \
    loaded.name = reinterpret_cast<decltype(loaded.name)>(found);         \
  }
  ANYNPU_CUDNN_FUNCTIONS(X)
#undef X
  return loaded;
}

}  // namespace

const Result<Cudnn>& cudnn() {
  static const auto* const loaded = new Result<Cudnn>(load_cudnn());
  return *loaded;
}

cudnnDataType_t cudnn_type(DType type) {
  if (type == DType::f16) return CUDNN_DATA_HALF;
  if (type == DType::bf16) return CUDNN_DATA_BFLOAT16;
  return type == DType::f64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

Status cudnn_check(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  return fail(status == CUDNN_STATUS_ALLOC_FAILED ? Code::out_of_memory : Code::task_failed,
              "{}: cuDNN said {}", what, cudnn()->cudnnGetErrorString(status));
}

Result<cudnnHandle_t> cudnn_handle(const Gpu& gpu) {
  // Never destroyed: threads may end after the driver has shut down.
  thread_local auto* const handles = new std::map<int, cudnnHandle_t>;
  if (!cudnn().ok()) return cudnn().status();
  ANYNPU_TRY(gpu.enter());
  cudnnHandle_t& handle = (*handles)[gpu.unit()];
  if (!handle) ANYNPU_TRY(cudnn_check(cudnn()->cudnnCreate(&handle), "opening cuDNN"));
  return handle;
}

}  // namespace anynpu::device::cuda
