// SPDX-License-Identifier: Apache-2.0
// Gemm, MatMul, FusedGemm and FusedMatMul: a cuBLASLt matrix product with a fused epilogue where
// possible, else followed by an epilogue kernel.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/env.h"
#include "cuda/kernels/autotuner.h"
#include "cuda/kernels/cudnn.h"
#include "cuda/kernels/cudnn_graph.h"
#include "cuda/kernels/disk_cache.h"
#include "cuda/kernels/epilogue.h"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/product.h"
#include "ops/gemm/gemm.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;
using ops::gemm::GemmShape;

constexpr size_t kCandidates = 10;  // cuDNN engine configurations to time

// The batch stride, or nothing if the matrices are not evenly spaced.
std::optional<int64_t> regular_stride(const std::vector<int64_t>& offsets) {
  const int64_t step = offsets.size() > 1 ? offsets[1] - offsets[0] : 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] != static_cast<int64_t>(i) * step) return std::nullopt;
  }
  return step;
}

ProductShape product_of(const GemmShape& g, DType type) {
  ProductShape shape{.type = type,
                     .m = g.m,
                     .n = g.n,
                     .k = g.k,
                     .transpose_a = g.transpose_a,
                     .transpose_b = g.transpose_b};
  shape.lda = g.transpose_a ? g.m : g.k;
  shape.ldb = g.transpose_b ? g.k : g.n;
  shape.ldy = g.n;
  shape.batch = static_cast<int32_t>(g.batch());
  shape.stride_a = *regular_stride(g.batch_a);
  shape.stride_b = *regular_stride(g.batch_b);
  shape.stride_y = g.m * g.n;
  // If all matrices are multiplied by the same b, fold the batch into m.
  if (!g.transpose_a && shape.stride_b == 0 && shape.stride_a == g.m * g.k) {
    shape.m *= shape.batch;
    shape.batch = 1;
  }
  return shape;
}

std::string activation_code_of(const GemmShape& g, DType type) {
  if (!g.activation_function) return {};
  if (*g.activation_function == ops::RowFunction::gelu && size_of(type) == 2) return "gelu16(v)";
  switch (*g.activation_function) {
    case ops::RowFunction::gelu:
      return "v * (C)0.5 * (1 + erf(v * (C)0.70710678118654752))";
    case ops::RowFunction::gelu_tanh:
      return "v * (C)0.5 * (1 + tanh((C)0.79788456080286536 * (v + (C)0.044715 * v * v * v)))";
    default:
      return "tanh(v)";
  }
}

// Splits the epilogue: cuBLASLt fuses bias, residual (z) and ReLU; the rest is left to `after`.
void split_epilogue(const GemmShape& g, ProductShape& product, Epilogue& after) {
  const bool bias = g.has_c && g.beta == 1 && g.c_row == 0 && (g.c_column == 1 || g.n == 1);
  after.activation = g.activation;
  after.activation_code = activation_code_of(g, product.type);
  const bool relu = g.activation.on && g.activation.min == 0 && std::isinf(g.activation.max);
  if (bias || !g.has_c || g.beta == 0) {
    product.bias = bias;
    product.residual = g.has_z;
    product.relu = relu;
    if (relu) after.activation = {};
    return;
  }
  after.has_z = g.has_z;
  after.c_scale = g.beta;
  after.c_index = format("(i / {0} % {1}) * {2} + (i % {0}) * {3}", g.n, g.m, g.c_row, g.c_column);
}

// Whether the fused cuDNN plan is faster than `product` followed by `after`: timed once, then read
// from the disk cache.
Result<bool> fused_is_faster(const Gpu& gpu, const std::string& what, const CudnnPlan& one,
                             const Product& product, const EpilogueKernels& after, size_t count,
                             DType type) {
  const std::string key =
      format("faster {} cudnn {} {}", gpu.name(), cudnn()->cudnnGetVersion(), what);
  if (const auto cached = read_cached(key); cached && cached->size() == 1)
    return cached->front() == '1';
  ANYNPU_ASSIGN(const auto autotuner, Autotuner::on(gpu));
  ANYNPU_ASSIGN(void* const y, autotuner->allocate_random(count, type));
  const double epilogue_us = autotuner->time([&](CUstream stream) {
    return enqueue_epilogue(after, gpu, stream, y, nullptr, nullptr, count);
  });
  if (env::lists(env::Name::verbose, "dispatch")) {
    std::fputs(format("anynpu,measured,{}: cuDNN {} us, cuBLASLt {} + {} us\n", what,
                      one.microseconds(), product.microseconds(), epilogue_us)
                   .c_str(),
               stderr);
  }
  const bool faster = one.microseconds() < product.microseconds() + epilogue_us;
  const char text[] = {faster ? '1' : '0'};
  write_cached(key, text);
  return faster;
}

// Product, bias and GELU as one cuDNN graph; null if that is not supported or not faster than
// `product` followed by `after`.
Result<std::shared_ptr<const CudnnPlan>> choose_fused(const GemmShape& g, const ProductShape& shape,
                                                      const Product& product,
                                                      const EpilogueKernels& after, size_t count) {
  const bool gelu = g.activation_function == ops::RowFunction::gelu;
  const bool gelu_tanh = g.activation_function == ops::RowFunction::gelu_tanh;
  const auto gpus = Gpu::used();
  if (!(gelu || gelu_tanh) || shape.batch != 1 || size_of(shape.type) != 2 || g.alpha != 1 ||
      !shape.bias || shape.residual || !cudnn().ok() || gpus.empty())
    return std::shared_ptr<const CudnnPlan>();
  CudnnGraph graph(*gpus[0]);
  const auto strides = [](int64_t row, bool transposed) {
    return transposed ? std::vector<int64_t>{1, 1, row} : std::vector<int64_t>{1, row, 1};
  };
  const auto a = graph.tensor(shape.type, {1, shape.m, g.k}, strides(shape.lda, g.transpose_a));
  const auto b = graph.tensor(shape.type, {1, g.k, g.n}, strides(shape.ldb, g.transpose_b));
  const std::vector<int64_t> extents = {1, shape.m, g.n}, rows = {shape.m * g.n, g.n, 1};
  const auto y = graph.tensor(shape.type, extents, rows);
  const auto bias = graph.tensor(shape.type, {1, 1, g.n}, {g.n, g.n, 1});
  const auto sum = graph.tensor(DType::f32, extents, rows, true);
  const auto biased = graph.tensor(DType::f32, extents, rows, true);
  graph.product(a, b, sum);
  graph.add(sum, bias, biased);
  graph.pointwise(biased, y,
                  gelu ? CUDNN_POINTWISE_GELU_FWD : CUDNN_POINTWISE_GELU_APPROX_TANH_FWD);
  const std::string what =
      format("product {} {}x{}x{} {}{} rows {} {} with {}", name_of(shape.type), shape.m, g.n, g.k,
             g.transpose_a, g.transpose_b, shape.lda, shape.ldb, gelu ? "gelu" : "gelu_tanh");
  auto one = graph.autotune(what, kCandidates);
  if (!one.ok()) return std::shared_ptr<const CudnnPlan>();
  ANYNPU_ASSIGN(const bool faster,
                fused_is_faster(*gpus[0], what, **one, product, after, count, shape.type));
  return faster ? *one : std::shared_ptr<const CudnnPlan>();
}

// The tensor ids are those of choose_fused.
Status enqueue_fused(const CudnnPlan& plan, CudaQueue& queue, const ProductOperands& o) {
  const GraphOperand operands[] = {{1, o.a}, {2, o.b}, {3, o.y}, {4, o.bias}};
  return plan.enqueue(queue.gpu(), queue.stream(), operands, o.workspace);
}

PlanResult plan_product(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, ops::gemm::gemm_shape_of(context));
  const DType type = context.inputs[0].dtype;
  const size_t count = static_cast<size_t>(g.batch() * g.m * g.n);
  if (count == 0) return cuda_plan([](const ops::RunArgs&, CudaQueue&) { return Status(); });
  ProductShape shape;
  Epilogue epilogue;
  epilogue.type = type;
  if (g.k > 0) {
    shape = product_of(g, type);
    split_epilogue(g, shape, epilogue);
  } else {  // the product is zero
    epilogue.activation = g.activation;
    epilogue.activation_code = activation_code_of(g, type);
    epilogue.has_z = g.has_z;
    epilogue.c_scale = g.has_c ? g.beta : 0;
    if (g.has_c && g.beta != 0)
      epilogue.c_index =
          format("(i / {0} % {1}) * {2} + (i % {0}) * {3}", g.n, g.m, g.c_row, g.c_column);
  }
  ANYNPU_ASSIGN(auto after, make_epilogue(epilogue));
  std::shared_ptr<const Product> product;
  if (g.k > 0) {
    ANYNPU_ASSIGN(product, Product::make(shape));
  }
  std::shared_ptr<const CudnnPlan> one;
  if (product) {
    ANYNPU_ASSIGN(one, choose_fused(g, shape, *product, after, count));
  }
  auto plan = cuda_plan([product, one, after, count, type, alpha = g.alpha](
                            const ops::RunArgs& args, CudaQueue& queue) {
    const auto input = [&](size_t k) { return k < args.inputs.size() ? args.inputs[k] : nullptr; };
    const ProductOperands operands{input(0),        input(1),       input(2), input(3),
                                   args.outputs[0], args.workspace, alpha};
    if (one && operands.aligned()) return enqueue_fused(*one, queue, operands);
    if (product) {
      ANYNPU_TRY(product->enqueue(queue.gpu(), queue.stream(), operands));
    } else {
      ANYNPU_TRY(queue.fill(args.outputs[0], 0, count * size_of(type)));
    }
    return enqueue_epilogue(after, queue, args.outputs[0], input(2), input(3), count);
  });
  plan->workspace_bytes =
      std::max(product ? product->workspace_bytes() : 0, one ? one->workspace_bytes() : 0);
  return plan;
}

Status can_run_product(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, ops::gemm::gemm_shape_of(context));
  if (!regular_stride(g.batch_a) || !regular_stride(g.batch_b))
    return fail(Code::unsupported_shape, "batches are broadcast along several axes");
  if (g.batch() > INT32_MAX) return fail(Code::unsupported_shape, "too many matrices");
  return Product::available();
}

}  // namespace

void add_products(std::vector<ops::KernelDef>& kernels) {
  for (const auto& [op, domain] :
       {std::pair{"MatMul", ""}, std::pair{"Gemm", ""}, std::pair{"FusedMatMul", "anynpu"},
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
