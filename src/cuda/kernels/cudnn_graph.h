// SPDX-License-Identifier: Apache-2.0
// cuDNN operation graphs: a convolution or matrix product fused with a pointwise epilogue. The
// engine configuration is autotuned: timed once, then read from the disk cache.
#pragma once

#include <cudnn.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/gpu.h"
#include "tensor/dtype.h"

namespace anynpu::device::cuda {

// Owns a descriptor of cuDNN's backend API.
class Descriptor {
 public:
  static Result<Descriptor> make(cudnnBackendDescriptorType_t type);
  Descriptor(Descriptor&& other) noexcept : made_(std::exchange(other.made_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(made_, other.made_);
    return *this;
  }
  ~Descriptor();

  Status set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
             const void* values);
  Status set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    return set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  Status set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.made_);
  }
  Status finalize();
  cudnnBackendDescriptor_t get() const { return made_; }

 private:
  explicit Descriptor(cudnnBackendDescriptor_t made) : made_(made) {}
  cudnnBackendDescriptor_t made_;
};

// Binds a tensor of the graph, by the id that CudnnGraph::tensor returned, to a device address.
struct GraphOperand {
  int64_t id;
  const void* address;
};

// An execution plan. Immutable after query_workspace(); threads may share it.
class CudnnPlan {
 public:
  CudnnPlan(Descriptor plan, double microseconds);
  size_t workspace_bytes() const { return workspace_bytes_; }
  double microseconds() const { return microseconds_; }
  Status enqueue(const Gpu& gpu, CUstream stream, std::span<const GraphOperand> operands,
                 void* workspace) const;
  Status query_workspace();

 private:
  friend class CudnnGraph;
  Descriptor plan_;
  size_t workspace_bytes_ = 0;
  double microseconds_;
};

// Builds a graph. After the first failure further calls do nothing, and autotune() returns the
// error.
class CudnnGraph {
 public:
  explicit CudnnGraph(const Gpu& gpu) : gpu_(gpu) {}

  // Adds a tensor and returns its id, counted from 1. Strides are in elements. A virtual tensor is
  // an intermediate that is not written to memory.
  int64_t tensor(DType type, std::vector<int64_t> extents, std::vector<int64_t> strides,
                 bool is_virtual = false);
  struct Window {
    std::vector<int64_t> pad_begin, pad_end, stride, dilation;
  };
  void convolution(int64_t x, int64_t w, int64_t y, const Window& window);
  // The data gradient of a convolution: one with this window would compute x from y.
  void transposed_convolution(int64_t x, int64_t w, int64_t y, const Window& window);
  void product(int64_t a, int64_t b, int64_t y);
  // y = x + factor * b
  void add(int64_t x, int64_t b, int64_t y, float factor = 1);
  // y = min(max(x, low), high)
  void clamp(int64_t x, int64_t y, double low, double high);
  // y = function(x), such as CUDNN_POINTWISE_GELU_FWD.
  void pointwise(int64_t x, int64_t y, cudnnPointwiseMode_t function);

  // Times up to `most_candidates` engine configurations on random data and returns the fastest
  // plan. `key` identifies the graph in the disk cache.
  Result<std::shared_ptr<const CudnnPlan>> autotune(const std::string& key, size_t most_candidates);

 private:
  struct Tensor {
    DType type;
    std::vector<int64_t> extents, strides;
    bool is_virtual;
    Descriptor descriptor;
  };
  Status add_tensor(DType type, std::vector<int64_t> extents, std::vector<int64_t> strides,
                    bool is_virtual);
  Result<Descriptor> window_descriptor(const Window& window) const;
  Status add_convolution(int64_t x, int64_t w, int64_t y, const Window& window);
  Status add_transposed(int64_t x, int64_t w, int64_t y, const Window& window);
  Status add_product(int64_t a, int64_t b, int64_t y);
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    int64_t x, b, y;  // b is 0 if there is none
    float factor = 1;
    double low, high;
  };
  Status add_pointwise(const Pointwise& what);
  const Descriptor& of(int64_t id) const {
    return tensors_[static_cast<size_t>(id - 1)].descriptor;
  }
  Result<Descriptor> finalize_graph();
  Result<std::vector<Descriptor>> candidates(const Descriptor& graph, size_t most);
  Result<std::vector<GraphOperand>> autotune_operands(class Autotuner& autotuner) const;

  const Gpu& gpu_;
  Status failed_;
  std::vector<Tensor> tensors_;
  std::vector<Descriptor> parts_;  // descriptors that operations refer to
  std::vector<Descriptor> operations_;
};

}  // namespace anynpu::device::cuda
