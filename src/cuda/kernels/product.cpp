// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/product.h"

#include <cublasLt.h>

#include <map>
#include <mutex>

#include "cuda/kernels/library.h"

namespace anynpu::device::cuda {

namespace {

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

// A product as cuBLASLt sees it: column-major, so y^T = b^T * a^T. Immutable once chosen.
class LtProduct final : public Product {
 public:
  explicit LtProduct(DType type) : type_(type) {}
  ~LtProduct() override {
    const CublasLt& blas = *cublaslt();
    if (work_) blas.cublasLtMatmulDescDestroy(work_);
    for (cublasLtMatrixLayout_t layout : {b_, a_, y_}) {
      if (layout) blas.cublasLtMatrixLayoutDestroy(layout);
    }
  }

  Status enqueue(CudaQueue& queue, const void* a, const void* b, void* y, void* workspace,
                 float alpha) const override {
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

  Status describe(const ProductShape& g) {
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
    ANYNPU_TRY(add_layout(b_, g.transpose_b ? g.k : g.n, g.transpose_b ? g.n : g.k, g.row_b, g.batch,
                          g.step_b));
    ANYNPU_TRY(add_layout(a_, g.transpose_a ? g.m : g.k, g.transpose_a ? g.k : g.m, g.row_a, g.batch,
                          g.step_a));
    return add_layout(y_, g.n, g.m, g.row_y, g.batch, g.step_y);
  }

 private:

  Status add_layout(cublasLtMatrixLayout_t& layout, int64_t rows, int64_t columns, int64_t leading,
                    int32_t batch, int64_t step) {
    const CublasLt& blas = *cublaslt();
    ANYNPU_TRY(blas_status(
        blas.cublasLtMatrixLayoutCreate(&layout, cuda_type(type_), static_cast<uint64_t>(rows),
                                        static_cast<uint64_t>(columns), leading),
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

}  // namespace

Status Product::available() { return cublaslt().ok() ? Status() : cublaslt().status(); }

Result<std::shared_ptr<const Product>> Product::make(const ProductShape& shape) {
  ANYNPU_TRY(available());
  auto product = std::make_shared<LtProduct>(shape.type);
  ANYNPU_TRY(product->describe(shape));
  return std::shared_ptr<const Product>(std::move(product));
}

}  // namespace anynpu::device::cuda
