// SPDX-License-Identifier: Apache-2.0
// Gemm, MatMul and their fused forms through cuBLASLt. float32 is computed in float32, not TF32.
#include <cublasLt.h>

#include <map>
#include <mutex>

#include "device/cuda/kernels/epilogue.h"
#include "device/cuda/kernels/kernels.h"
#include "device/cuda/kernels/library.h"
#include "ops/gemm/gemm.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;
using ops::gemm::GemmShape;

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // what cuBLAS asks for on Hopper

#define ANYNPU_CUBLASLT_FUNCTIONS(X)  \
  X(cublasLtCreate)                   \
  X(cublasLtGetStatusString)          \
  X(cublasLtMatmulDescCreate)         \
  X(cublasLtMatmulDescDestroy)        \
  X(cublasLtMatmulDescSetAttribute)   \
  X(cublasLtMatrixLayoutCreate)       \
  X(cublasLtMatrixLayoutDestroy)      \
  X(cublasLtMatrixLayoutSetAttribute) \
  X(cublasLtMatmulPreferenceCreate)   \
  X(cublasLtMatmulPreferenceDestroy)  \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatmulAlgoGetHeuristic)   \
  X(cublasLtMatmul)

struct CublasLt {
#define X(name) decltype(&::name) name = nullptr;
  ANYNPU_CUBLASLT_FUNCTIONS(X)
#undef X
};

Result<CublasLt> load_cublaslt() {
  constexpr const char* kFile = "libcublasLt.so.13";
  ANYNPU_ASSIGN(void* const library, open_library(kFile, "nvidia-cublas"));
  CublasLt loaded;
#define X(name)                                                           \
  {                                                                       \
    ANYNPU_ASSIGN(void* const found, function_of(library, kFile, #name)); \
    loaded.name = reinterpret_cast<decltype(loaded.name)>(found);         \
  }
  ANYNPU_CUBLASLT_FUNCTIONS(X)
#undef X
  return loaded;
}

const Result<CublasLt>& cublaslt() {
  static const auto* const loaded = new Result<CublasLt>(load_cublaslt());
  return *loaded;
}

Status blas_status(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return fail(status == CUBLAS_STATUS_ALLOC_FAILED ? Code::out_of_memory : Code::task_failed,
              "{}: cuBLASLt said {}", what, cublaslt()->cublasLtGetStatusString(status));
}

// One a GPU, never destroyed.
Result<cublasLtHandle_t> handle_of(const Gpu& gpu) {
  static auto& mutex = *new std::mutex;
  static auto& handles = *new std::map<int, cublasLtHandle_t>;
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[gpu.unit()];
  if (!handle) ANYNPU_TRY(blas_status(cublaslt()->cublasLtCreate(&handle), "opening cuBLASLt"));
  return handle;
}

cudaDataType_t cuda_type(DType type) {
  if (type == DType::f16) return CUDA_R_16F;
  if (type == DType::bf16) return CUDA_R_16BF;
  return type == DType::f64 ? CUDA_R_64F : CUDA_R_32F;
}

// From one matrix of the batch to the next; nothing where the steps differ.
std::optional<int64_t> regular_step(const std::vector<int64_t>& offsets) {
  const int64_t step = offsets.size() > 1 ? offsets[1] - offsets[0] : 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] != static_cast<int64_t>(i) * step) return std::nullopt;
  }
  return step;
}

// A product as cuBLASLt sees it: column-major, so y^T = b^T * a^T. Immutable once chosen.
class Product {
 public:
  static Result<std::shared_ptr<Product>> make(const GemmShape& g, DType type) {
    if (!cublaslt().ok()) return cublaslt().status();
    std::shared_ptr<Product> product(new Product(type));
    ANYNPU_TRY(product->describe(g));
    return product;
  }
  ~Product() {
    const CublasLt& blas = *cublaslt();
    if (work_) blas.cublasLtMatmulDescDestroy(work_);
    for (cublasLtMatrixLayout_t layout : {b_, a_, y_}) {
      if (layout) blas.cublasLtMatrixLayoutDestroy(layout);
    }
  }

  Status enqueue(CudaQueue& queue, const void* a, const void* b, void* y, void* workspace,
                 float alpha) const {
    ANYNPU_ASSIGN(const cublasLtHandle_t handle, handle_of(queue.gpu()));
    ANYNPU_TRY(choose(handle));
    const double wide_alpha = alpha, wide_zero = 0;
    const float zero = 0;
    const bool wide = type_ == DType::f64;
    return blas_status(
        cublaslt()->cublasLtMatmul(handle, work_,
                                   wide ? static_cast<const void*>(&wide_alpha) : &alpha, b, b_, a,
                                   a_, wide ? static_cast<const void*>(&wide_zero) : &zero, y, y_,
                                   y, y_, &algorithm_, workspace, kWorkspaceBytes,
                                   reinterpret_cast<cudaStream_t>(queue.stream())),
        "a matrix product");
  }

 private:
  explicit Product(DType type) : type_(type) {}

  Status describe(const GemmShape& g) {
    const CublasLt& blas = *cublaslt();
    const bool wide = type_ == DType::f64;
    ANYNPU_TRY(blas_status(
        blas.cublasLtMatmulDescCreate(&work_, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                      wide ? CUDA_R_64F : CUDA_R_32F),
        "describing a product"));
    const auto turn = [&](cublasLtMatmulDescAttributes_t attribute, bool transposed) {
      const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
      return blas_status(blas.cublasLtMatmulDescSetAttribute(work_, attribute, &operation,
                                                             sizeof operation),
                         "describing a product");
    };
    ANYNPU_TRY(turn(CUBLASLT_MATMUL_DESC_TRANSA, g.transpose_b));
    ANYNPU_TRY(turn(CUBLASLT_MATMUL_DESC_TRANSB, g.transpose_a));
    const auto batch = static_cast<int32_t>(g.batch());
    ANYNPU_TRY(add_layout(b_, g.transpose_b ? g.k : g.n, g.transpose_b ? g.n : g.k, batch,
                          *regular_step(g.batch_b)));
    ANYNPU_TRY(add_layout(a_, g.transpose_a ? g.m : g.k, g.transpose_a ? g.k : g.m, batch,
                          *regular_step(g.batch_a)));
    return add_layout(y_, g.n, g.m, batch, g.m * g.n);
  }

  Status add_layout(cublasLtMatrixLayout_t& layout, int64_t rows, int64_t columns, int32_t batch,
                    int64_t step) {
    const CublasLt& blas = *cublaslt();
    ANYNPU_TRY(blas_status(
        blas.cublasLtMatrixLayoutCreate(&layout, cuda_type(type_), static_cast<uint64_t>(rows),
                                        static_cast<uint64_t>(columns), rows),
        "describing a matrix"));
    if (batch == 1) return {};
    ANYNPU_TRY(blas_status(blas.cublasLtMatrixLayoutSetAttribute(
                               layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
                           "describing a batch"));
    return blas_status(
        blas.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &step, sizeof step),
        "describing a batch");
  }

  // The library's first choice, asked for once.
  Status choose(cublasLtHandle_t handle) const {
    const std::lock_guard lock(mutex_);
    if (chosen_) return {};
    const CublasLt& blas = *cublaslt();
    cublasLtMatmulPreference_t preference = nullptr;
    ANYNPU_TRY(blas_status(blas.cublasLtMatmulPreferenceCreate(&preference), "choosing a product"));
    blas.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &kWorkspaceBytes, sizeof kWorkspaceBytes);
    cublasLtMatmulHeuristicResult_t found = {};
    int count = 0;
    const Status asked =
        blas_status(blas.cublasLtMatmulAlgoGetHeuristic(handle, work_, b_, a_, y_, y_, preference, 1,
                                                        &found, &count),
                    "choosing a product");
    blas.cublasLtMatmulPreferenceDestroy(preference);
    ANYNPU_TRY(asked);
    if (count == 0) return fail(Code::unsupported_shape, "cuBLASLt has no product for this case");
    algorithm_ = found.algo;
    chosen_ = true;
    return {};
  }

  const DType type_;
  cublasLtMatmulDesc_t work_ = nullptr;
  cublasLtMatrixLayout_t b_ = nullptr, a_ = nullptr, y_ = nullptr;
  mutable std::mutex mutex_;
  mutable bool chosen_ = false;
  mutable cublasLtMatmulAlgo_t algorithm_ = {};
};

std::string curve_of(const GemmShape& g) {
  if (!g.curve) return {};
  switch (*g.curve) {
    case ops::RowFunction::gelu: return "v * (C)0.5 * (1 + erf(v * (C)0.70710678118654752))";
    case ops::RowFunction::gelu_tanh:
      return "v * (C)0.5 * (1 + tanh((C)0.79788456080286536 * (v + (C)0.044715 * v * v * v)))";
    default: return "tanh(v)";
  }
}

PlanResult plan_product(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, ops::gemm::gemm_shape_of(context));
  const DType type = context.inputs[0].dtype;
  Epilogue epilogue;
  epilogue.type = type;
  epilogue.has_z = g.has_z;
  epilogue.activation = g.activation;
  epilogue.curve = curve_of(g);
  if (g.has_c && g.beta != 0) {
    epilogue.c_scale = g.beta;
    epilogue.c_index =
        format("(i / {0} % {1}) * {2} + (i % {0}) * {3}", g.n, g.m, g.c_row, g.c_column);
  }
  ANYNPU_ASSIGN(auto after, make_epilogue(epilogue));
  const size_t count = static_cast<size_t>(g.batch() * g.m * g.n);
  const size_t bytes = count * size_of(type);
  if (count == 0) return cuda_plan([](const ops::RunArgs&, CudaQueue&) { return Status(); });
  std::shared_ptr<Product> product;
  if (g.k > 0) {
    ANYNPU_ASSIGN(product, Product::make(g, type));
  }
  const size_t z = 3;
  auto plan = cuda_plan([product, after, count, bytes, alpha = g.alpha](const ops::RunArgs& args,
                                                                        CudaQueue& queue) {
    if (product) {
      ANYNPU_TRY(product->enqueue(queue, args.inputs[0], args.inputs[1], args.outputs[0],
                                  args.workspace, alpha));
    } else {
      ANYNPU_TRY(queue.fill(args.outputs[0], 0, bytes));
    }
    const auto input = [&](size_t k) { return k < args.inputs.size() ? args.inputs[k] : nullptr; };
    return enqueue_epilogue(after.get(), queue, args.outputs[0], input(2), input(z), count);
  });
  plan->workspace_bytes = kWorkspaceBytes;
  return plan;
}

Status can_run_product(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, ops::gemm::gemm_shape_of(context));
  if (!regular_step(g.batch_a) || !regular_step(g.batch_b))
    return fail(Code::unsupported_shape, "batches are broadcast along several axes");
  if (g.batch() > INT32_MAX) return fail(Code::unsupported_shape, "too many matrices");
  if (!cublaslt().ok()) return cublaslt().status();
  return {};
}

}  // namespace

void add_products(std::vector<ops::KernelDef>& kernels) {
  for (const auto& [op, domain] : {std::pair{"MatMul", ""}, std::pair{"Gemm", ""},
                                   std::pair{"FusedMatMul", "anynpu"},
                                   std::pair{"FusedGemm", "anynpu"}}) {
    kernels.push_back({.op = op,
                       .name = "cublaslt",
                       .domain = domain,
                       .backend = "cuda",
                       .types = ops::kFloats,
                       .can_run = can_run_product,
                       .create = ops::create_plain<plan_product>});
  }
}

}  // namespace anynpu::device::cuda
