// SPDX-License-Identifier: Apache-2.0
// Gemm, MatMul and their fused forms: a product, then what is added to it and the activation.
#include "cuda/kernels/epilogue.h"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/product.h"
#include "ops/gemm/gemm.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;
using ops::gemm::GemmShape;

// From one matrix of the batch to the next; nothing where the steps differ.
std::optional<int64_t> regular_step(const std::vector<int64_t>& offsets) {
  const int64_t step = offsets.size() > 1 ? offsets[1] - offsets[0] : 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] != static_cast<int64_t>(i) * step) return std::nullopt;
  }
  return step;
}

ProductShape product_of(const GemmShape& g, DType type) {
  ProductShape shape{.type = type, .m = g.m, .n = g.n, .k = g.k, .transpose_a = g.transpose_a,
                     .transpose_b = g.transpose_b};
  shape.row_a = g.transpose_a ? g.m : g.k;
  shape.row_b = g.transpose_b ? g.k : g.n;
  shape.row_y = g.n;
  shape.batch = static_cast<int32_t>(g.batch());
  shape.step_a = *regular_step(g.batch_a);
  shape.step_b = *regular_step(g.batch_b);
  shape.step_y = g.m * g.n;
  return shape;
}

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
  std::shared_ptr<const Product> product;
  if (g.k > 0) {
    ANYNPU_ASSIGN(product, Product::make(product_of(g, type)));
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
  plan->workspace_bytes = Product::kWorkspaceBytes;
  return plan;
}

Status can_run_product(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, ops::gemm::gemm_shape_of(context));
  if (!regular_step(g.batch_a) || !regular_step(g.batch_b))
    return fail(Code::unsupported_shape, "batches are broadcast along several axes");
  if (g.batch() > INT32_MAX) return fail(Code::unsupported_shape, "too many matrices");
  return Product::available();
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
