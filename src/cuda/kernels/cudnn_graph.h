// SPDX-License-Identifier: Apache-2.0
// Operations that cuDNN runs as one: a convolution or a product and what is done to each of its
// results. Of the ways that cuDNN offers, the fastest is taken: measured once, and kept on disk.
#pragma once

#include <cudnn.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/gpu.h"
#include "tensor/dtype.h"

namespace anynpu::device::cuda {

// A descriptor of cuDNN's back end; its failures are of the kind "cuDNN said ...".
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

// Operand of a run: the number that the graph gave the tensor, and where it lies.
struct GraphOperand {
  int64_t id;
  const void* address;
};

// A chosen way. Immutable; threads may run it at once.
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

// A graph under construction. Calls after a failed one do nothing; choose() tells the failure.
class CudnnGraph {
 public:
  explicit CudnnGraph(const Gpu& gpu) : gpu_(gpu) {}

  // A tensor with these extents and steps in elements. An inner one is never stored.
  int64_t tensor(DType type, std::vector<int64_t> extents, std::vector<int64_t> strides,
                 bool is_virtual = false);
  struct Window {
    std::vector<int64_t> pad_begin, pad_end, stride, dilation;
  };
  void convolution(int64_t x, int64_t w, int64_t y, const Window& window);
  // The other way round: y is what a convolution with this window would make x of.
  void transposed_convolution(int64_t x, int64_t w, int64_t y, const Window& window);
  void product(int64_t a, int64_t b, int64_t y);
  // y = x + b; a factor for b.
  void add(int64_t x, int64_t b, int64_t y, float factor = 1);
  // y is x clamped.
  void clamp(int64_t x, int64_t y, double low, double high);
  // y = function(x), such as CUDNN_POINTWISE_GELU_FWD.
  void pointwise(int64_t x, int64_t y, cudnnPointwiseMode_t function);

  // `key` describes the graph. Operands are needed to measure with; null for an operand means that
  // memory is taken for it.
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
    int64_t x, b, y;  // b 0: none
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
