// SPDX-License-Identifier: Apache-2.0
// cuDNN 9, loaded on first use. Thread-safe.
#pragma once

#include <cudnn.h>

#include "cuda/gpu.h"
#include "tensor/dtype.h"

namespace anynpu::device::cuda {

#define ANYNPU_CUDNN_FUNCTIONS(X)            \
  X(cudnnGetErrorString)                     \
  X(cudnnCreate)                             \
  X(cudnnSetStream)                          \
  X(cudnnCreateTensorDescriptor)             \
  X(cudnnDestroyTensorDescriptor)            \
  X(cudnnSetTensorNdDescriptor)              \
  X(cudnnCreateFilterDescriptor)             \
  X(cudnnDestroyFilterDescriptor)            \
  X(cudnnSetFilterNdDescriptor)              \
  X(cudnnCreateConvolutionDescriptor)        \
  X(cudnnDestroyConvolutionDescriptor)       \
  X(cudnnSetConvolutionNdDescriptor)         \
  X(cudnnSetConvolutionGroupCount)           \
  X(cudnnSetConvolutionMathType)             \
  X(cudnnGetConvolutionForwardAlgorithm_v7)  \
  X(cudnnGetConvolutionForwardWorkspaceSize) \
  X(cudnnConvolutionForward)                 \
  X(cudnnGetVersion)                         \
  X(cudnnBackendCreateDescriptor)            \
  X(cudnnBackendDestroyDescriptor)           \
  X(cudnnBackendSetAttribute)                \
  X(cudnnBackendGetAttribute)                \
  X(cudnnBackendFinalize)                    \
  X(cudnnBackendExecute)

struct Cudnn {
#define X(name) decltype(&::name) name = nullptr;
  ANYNPU_CUDNN_FUNCTIONS(X)
#undef X
};

// The library, or an error that says what is missing.
const Result<Cudnn>& cudnn();

cudnnDataType_t cudnn_type(DType type);

Status cudnn_check(cudnnStatus_t status, const char* what);

// The calling thread's handle for `gpu`: threads must not share a handle. Makes the GPU's context
// current.
Result<cudnnHandle_t> cudnn_handle(const Gpu& gpu);

}  // namespace anynpu::device::cuda
