// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/cudnn_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/format.h"
#include "cuda/kernels/autotuner.h"
#include "cuda/kernels/cudnn.h"
#include "cuda/kernels/disk_cache.h"

namespace anynpu::device::cuda {

namespace {

constexpr int64_t kAlignment = 16;  // of tensors, in bytes

// Engines with these notes are rejected: they accumulate in less than float, or are less accurate
// or nondeterministic.
constexpr cudnnBackendNumericalNote_t kRejectedNotes[] = {
    CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, CUDNN_NUMERICAL_NOTE_FFT,
    CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, CUDNN_NUMERICAL_NOTE_WINOGRAD,
    CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS};

bool rejected(const Descriptor& config, bool exact) {
  auto engine = Descriptor::make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  if (!engine.ok()) return true;
  const Cudnn& dnn = *cudnn();
  int64_t count = 0;
  cudnnBackendDescriptor_t asked = engine->get();
  if (dnn.cudnnBackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                   &asked) != CUDNN_STATUS_SUCCESS)
    return true;
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT] = {};
  if (dnn.cudnnBackendGetAttribute(asked, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                   CUDNN_TYPE_NUMERICAL_NOTE, std::size(notes), &count,
                                   notes) != CUDNN_STATUS_SUCCESS)
    return false;
  return std::any_of(notes, notes + std::min<int64_t>(count, std::size(notes)), [&](auto note) {
    return (exact && note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
           std::find(std::begin(kRejectedNotes), std::end(kRejectedNotes), note) !=
               std::end(kRejectedNotes);
  });
}

Result<Descriptor> plan_of(cudnnHandle_t handle, const Descriptor& config) {
  ANYNPU_ASSIGN(Descriptor plan, Descriptor::make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  ANYNPU_TRY(plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
  ANYNPU_TRY(plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config));
  ANYNPU_TRY(plan.finalize());
  return plan;
}

// cuDNN's JSON representation of a plan, with its compiled code.
std::vector<char> serialized(const Descriptor& plan) {
  const Cudnn& dnn = *cudnn();
  int64_t count = 0;
  if (dnn.cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                   CUDNN_TYPE_CHAR, 0, &count, nullptr) != CUDNN_STATUS_SUCCESS)
    return {};
  std::vector<char> text(static_cast<size_t>(count));
  if (dnn.cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                   CUDNN_TYPE_CHAR, count, &count,
                                   text.data()) != CUDNN_STATUS_SUCCESS)
    return {};
  return text;
}

Result<Descriptor> deserialized_plan(cudnnHandle_t handle, std::span<const char> text) {
  ANYNPU_ASSIGN(Descriptor plan, Descriptor::make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  ANYNPU_TRY(plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
  ANYNPU_TRY(plan.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                      static_cast<int64_t>(text.size()), text.data()));
  ANYNPU_TRY(plan.finalize());
  return plan;
}

}  // namespace

Result<Descriptor> Descriptor::make(cudnnBackendDescriptorType_t type) {
  if (!cudnn().ok()) return cudnn().status();
  cudnnBackendDescriptor_t made = nullptr;
  ANYNPU_TRY(cudnn_check(cudnn()->cudnnBackendCreateDescriptor(type, &made), "a descriptor"));
  return Descriptor(made);
}

Descriptor::~Descriptor() {
  if (made_) cudnn()->cudnnBackendDestroyDescriptor(made_);
}

Status Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       int64_t count, const void* values) {
  return cudnn_check(cudnn()->cudnnBackendSetAttribute(made_, name, type, count, values),
                     "an attribute");
}

Status Descriptor::finalize() {
  return cudnn_check(cudnn()->cudnnBackendFinalize(made_), "a description");
}

CudnnPlan::CudnnPlan(Descriptor plan, double microseconds)
    : plan_(std::move(plan)), microseconds_(microseconds) {}

Status CudnnPlan::query_workspace() {
  int64_t bytes = 0, count = 0;
  ANYNPU_TRY(cudnn_check(
      cudnn()->cudnnBackendGetAttribute(plan_.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                        CUDNN_TYPE_INT64, 1, &count, &bytes),
      "a workspace"));
  workspace_bytes_ = static_cast<size_t>(bytes);
  return {};
}

Status CudnnPlan::enqueue(const Gpu& gpu, CUstream stream, std::span<const GraphOperand> operands,
                          void* workspace) const {
  ANYNPU_ASSIGN(const cudnnHandle_t handle, cudnn_handle(gpu));
  const Cudnn& dnn = *cudnn();
  ANYNPU_TRY(
      cudnn_check(dnn.cudnnSetStream(handle, reinterpret_cast<cudaStream_t>(stream)), "a stream"));
  std::vector<int64_t> ids;
  std::vector<const void*> addresses;
  for (const GraphOperand& operand : operands) {
    if (reinterpret_cast<uintptr_t>(operand.address) % kAlignment != 0) {
      return fail(Code::invalid_argument,
                  "the address {} is no multiple of {} bytes, as kernels of cuDNN need it; pass "
                  "buffers from their start",
                  operand.address, kAlignment);
    }
    ids.push_back(operand.id);
    addresses.push_back(operand.address);
  }
  ANYNPU_ASSIGN(Descriptor pack, Descriptor::make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  ANYNPU_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                      static_cast<int64_t>(addresses.size()), addresses.data()));
  ANYNPU_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids));
  ANYNPU_TRY(pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace));
  ANYNPU_TRY(pack.finalize());
  return cudnn_check(dnn.cudnnBackendExecute(handle, plan_.get(), pack.get()), "a cuDNN graph");
}

int64_t CudnnGraph::tensor(DType type, std::vector<int64_t> extents, std::vector<int64_t> strides,
                           bool is_virtual) {
  if (failed_.ok()) failed_ = add_tensor(type, std::move(extents), std::move(strides), is_virtual);
  return static_cast<int64_t>(tensors_.size());
}

Status CudnnGraph::add_tensor(DType type, std::vector<int64_t> extents,
                              std::vector<int64_t> strides, bool is_virtual) {
  ANYNPU_ASSIGN(Descriptor made, Descriptor::make(CUDNN_BACKEND_TENSOR_DESCRIPTOR));
  const cudnnDataType_t kind = cudnn_type(type);
  ANYNPU_TRY(made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &kind));
  ANYNPU_TRY(made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents));
  ANYNPU_TRY(made.set(CUDNN_ATTR_TENSOR_STRIDES, strides));
  ANYNPU_TRY(made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, {static_cast<int64_t>(tensors_.size()) + 1}));
  ANYNPU_TRY(made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {kAlignment}));
  ANYNPU_TRY(made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual));
  ANYNPU_TRY(made.finalize());
  tensors_.push_back({type, std::move(extents), std::move(strides), is_virtual, std::move(made)});
  return {};
}

void CudnnGraph::convolution(int64_t x, int64_t w, int64_t y, const Window& window) {
  if (failed_.ok()) failed_ = add_convolution(x, w, y, window);
}

Result<Descriptor> CudnnGraph::window_descriptor(const Window& window) const {
  ANYNPU_ASSIGN(Descriptor work, Descriptor::make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  ANYNPU_TRY(work.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute));
  ANYNPU_TRY(work.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode));
  ANYNPU_TRY(
      work.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {static_cast<int64_t>(window.stride.size())}));
  ANYNPU_TRY(work.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, window.pad_begin));
  ANYNPU_TRY(work.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, window.pad_end));
  ANYNPU_TRY(work.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, window.stride));
  ANYNPU_TRY(work.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, window.dilation));
  ANYNPU_TRY(work.finalize());
  return work;
}

Status CudnnGraph::add_convolution(int64_t x, int64_t w, int64_t y, const Window& window) {
  ANYNPU_ASSIGN(Descriptor work, window_descriptor(window));
  ANYNPU_ASSIGN(Descriptor made,
                Descriptor::make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR));
  const float alpha = 1, beta = 0;
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, work));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, of(x)));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, of(w)));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, of(y)));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &alpha));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &beta));
  ANYNPU_TRY(made.finalize());
  parts_.push_back(std::move(work));
  operations_.push_back(std::move(made));
  return {};
}

void CudnnGraph::transposed_convolution(int64_t x, int64_t w, int64_t y, const Window& window) {
  if (failed_.ok()) failed_ = add_transposed(x, w, y, window);
}

Status CudnnGraph::add_transposed(int64_t x, int64_t w, int64_t y, const Window& window) {
  ANYNPU_ASSIGN(Descriptor work, window_descriptor(window));
  ANYNPU_ASSIGN(Descriptor made,
                Descriptor::make(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR));
  const float alpha = 1, beta = 0;
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, work));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, of(x)));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, of(w)));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, of(y)));
  ANYNPU_TRY(
      made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, 1, &alpha));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, 1, &beta));
  ANYNPU_TRY(made.finalize());
  parts_.push_back(std::move(work));
  operations_.push_back(std::move(made));
  return {};
}

void CudnnGraph::product(int64_t a, int64_t b, int64_t y) {
  if (failed_.ok()) failed_ = add_product(a, b, y);
}

Status CudnnGraph::add_product(int64_t a, int64_t b, int64_t y) {
  ANYNPU_ASSIGN(Descriptor work, Descriptor::make(CUDNN_BACKEND_MATMUL_DESCRIPTOR));
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  ANYNPU_TRY(work.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute));
  ANYNPU_TRY(work.finalize());
  ANYNPU_ASSIGN(Descriptor made, Descriptor::make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, work));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, of(a)));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, of(b)));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, of(y)));
  ANYNPU_TRY(made.finalize());
  parts_.push_back(std::move(work));
  operations_.push_back(std::move(made));
  return {};
}

void CudnnGraph::add(int64_t x, int64_t b, int64_t y, float factor) {
  if (failed_.ok()) failed_ = add_pointwise({CUDNN_POINTWISE_ADD, x, b, y, factor, 0, 0});
}

void CudnnGraph::clamp(int64_t x, int64_t y, double low, double high) {
  if (failed_.ok()) failed_ = add_pointwise({CUDNN_POINTWISE_RELU_FWD, x, 0, y, 1, low, high});
}

void CudnnGraph::pointwise(int64_t x, int64_t y, cudnnPointwiseMode_t function) {
  if (failed_.ok()) failed_ = add_pointwise({function, x, 0, y, 1, 0, 0});
}

Status CudnnGraph::add_pointwise(const Pointwise& what) {
  ANYNPU_ASSIGN(Descriptor work, Descriptor::make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  ANYNPU_TRY(work.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &what.mode));
  ANYNPU_TRY(work.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute));
  if (what.mode == CUDNN_POINTWISE_RELU_FWD && what.low != 0)
    ANYNPU_TRY(work.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, 1, &what.low));
  if (what.mode == CUDNN_POINTWISE_RELU_FWD && !std::isinf(what.high))
    ANYNPU_TRY(work.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, 1, &what.high));
  ANYNPU_TRY(work.finalize());
  ANYNPU_ASSIGN(Descriptor made, Descriptor::make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, work));
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, of(what.x)));
  if (what.b) {
    ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, of(what.b)));
    const float one = 1;
    ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, CUDNN_TYPE_FLOAT, 1, &one));
    ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, CUDNN_TYPE_FLOAT, 1, &what.factor));
  }
  ANYNPU_TRY(made.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, of(what.y)));
  ANYNPU_TRY(made.finalize());
  parts_.push_back(std::move(work));
  operations_.push_back(std::move(made));
  return {};
}

Result<Descriptor> CudnnGraph::finalize_graph() {
  ANYNPU_TRY(failed_);
  ANYNPU_ASSIGN(cudnnHandle_t handle, cudnn_handle(gpu_));
  ANYNPU_ASSIGN(Descriptor graph, Descriptor::make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  std::vector<cudnnBackendDescriptor_t> all;
  for (const Descriptor& operation : operations_) all.push_back(operation.get());
  ANYNPU_TRY(graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
  ANYNPU_TRY(graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                       static_cast<int64_t>(all.size()), all.data()));
  ANYNPU_TRY(graph.finalize());
  return graph;
}

// Engine configurations from cuDNN's heuristics, best first.
Result<std::vector<Descriptor>> CudnnGraph::candidates(const Descriptor& graph, size_t most) {
  std::vector<Descriptor> found;
  // float32 is computed in float32, not TF32.
  const bool exact = std::any_of(tensors_.begin(), tensors_.end(), [](const Tensor& tensor) {
    return !tensor.is_virtual && tensor.type == DType::f32;
  });
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (!found.empty()) break;
    ANYNPU_ASSIGN(Descriptor heuristics, Descriptor::make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
    ANYNPU_TRY(heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph));
    ANYNPU_TRY(heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode));
    if (!heuristics.finalize().ok()) continue;
    std::vector<Descriptor> configs;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (size_t i = 0; i < 2 * most; ++i) {
      ANYNPU_ASSIGN(Descriptor config, Descriptor::make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
      raw.push_back(config.get());
      configs.push_back(std::move(config));
    }
    int64_t count = 0;
    if (cudnn()->cudnnBackendGetAttribute(
            heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            static_cast<int64_t>(raw.size()), &count, raw.data()) != CUDNN_STATUS_SUCCESS)
      continue;
    for (size_t i = 0; i < configs.size() && static_cast<int64_t>(i) < count; ++i) {
      if (found.size() < most && !rejected(configs[i], exact))
        found.push_back(std::move(configs[i]));
    }
  }
  if (found.empty()) return fail(Code::unsupported_shape, "cuDNN has no way to run this");
  return found;
}

Result<std::vector<GraphOperand>> CudnnGraph::autotune_operands(Autotuner& autotuner) const {
  std::vector<GraphOperand> operands;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    if (tensor.is_virtual) continue;
    size_t count = 1;
    for (size_t d = 0; d < tensor.extents.size(); ++d)
      count += static_cast<size_t>((tensor.extents[d] - 1) * tensor.strides[d]);
    ANYNPU_ASSIGN(const void* const block, autotuner.allocate_random(count, tensor.type));
    operands.push_back({static_cast<int64_t>(i) + 1, block});
  }
  return operands;
}

Result<std::shared_ptr<const CudnnPlan>> CudnnGraph::autotune(const std::string& key,
                                                              size_t most_candidates) {
  ANYNPU_ASSIGN(const cudnnHandle_t handle, cudnn_handle(gpu_));
  const std::string whole =
      format("cudnn graph {} {} {}", gpu_.name(), cudnn()->cudnnGetVersion(), key);
  if (const auto cached = read_cached(whole); cached && cached->size() > sizeof(double)) {
    double taken = 0;
    std::copy_n(cached->data(), sizeof taken, reinterpret_cast<char*>(&taken));
    auto read = deserialized_plan(handle, std::span(*cached).subspan(sizeof taken));
    if (read.ok()) {
      auto plan = std::make_shared<CudnnPlan>(std::move(*read), taken);
      ANYNPU_TRY(plan->query_workspace());
      return std::shared_ptr<const CudnnPlan>(std::move(plan));
    }
  }
  ANYNPU_ASSIGN(const Descriptor graph, finalize_graph());
  ANYNPU_ASSIGN(const std::vector<Descriptor> configs, candidates(graph, most_candidates));
  ANYNPU_ASSIGN(const auto autotuner, Autotuner::on(gpu_));
  ANYNPU_ASSIGN(const auto operands, autotune_operands(*autotuner));
  std::shared_ptr<CudnnPlan> best;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  for (const Descriptor& config : configs) {
    auto made = plan_of(handle, config);
    if (!made.ok()) continue;
    auto plan = std::make_shared<CudnnPlan>(std::move(*made), 0);
    if (!plan->query_workspace().ok() || plan->workspace_bytes() > (size_t{512} << 20)) continue;
    if (plan->workspace_bytes() > workspace_bytes) {
      workspace_bytes = plan->workspace_bytes();
      ANYNPU_ASSIGN(workspace, autotuner->allocate(workspace_bytes));
    }
    plan->microseconds_ = autotuner->time(
        [&](CUstream stream) { return plan->enqueue(gpu_, stream, operands, workspace); });
    if (std::isinf(plan->microseconds_)) continue;
    if (!best || plan->microseconds_ < best->microseconds_) best = std::move(plan);
  }
  if (!best) return fail(Code::unsupported_shape, "cuDNN has no way that runs this");
  std::vector<char> bytes(sizeof(double));
  std::copy_n(reinterpret_cast<const char*>(&best->microseconds_), sizeof(double), bytes.data());
  const std::vector<char> text = serialized(best->plan_);
  bytes.insert(bytes.end(), text.begin(), text.end());
  if (!text.empty()) write_cached(whole, bytes);
  return std::shared_ptr<const CudnnPlan>(std::move(best));
}

}  // namespace anynpu::device::cuda
