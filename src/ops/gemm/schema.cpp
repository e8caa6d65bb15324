// SPDX-License-Identifier: Apache-2.0
#include "ops/broadcast.h"
#include "ops/elements/program.h"
#include "ops/families.h"
#include "ops/gemm/gemm.h"
#include "ops/gemm/gemm_amx.h"
#include "ops/gemm/packed.h"
#include "ops/registry.h"
#include "ops/widen.h"

namespace anynpu::ops::gemm {

namespace {

constexpr int64_t kMostMatrices = int64_t{1} << 22;  // a plan lists the offset of each

struct MatMulDims {
  Shape batch_a, batch_b;  // leading extents
  int64_t m = 1, k_a = 1, k_b = 1, n = 1;
  bool vector_a = false, vector_b = false;
  bool transpose_a = false, transpose_b = false;
};

Result<MatMulDims> matmul_dims(const OpContext& context) {
  const Shape &a = context.inputs[0].shape, &b = context.inputs[1].shape;
  if (a.empty() || b.empty()) {
    return fail(Code::unsupported_shape, "{}: inputs are {} and {}, expected at least 1 dimension",
                context.label(), to_string(a), to_string(b));
  }
  MatMulDims d;
  d.vector_a = a.size() == 1;
  d.vector_b = b.size() == 1;
  d.transpose_a = !d.vector_a && context.int_attr("transA") != 0;
  d.transpose_b = !d.vector_b && context.int_attr("transB") != 0;
  d.k_a = d.transpose_a ? a[a.size() - 2] : a.back();
  d.k_b = d.vector_b ? b[0] : d.transpose_b ? b.back() : b[b.size() - 2];
  if (!d.vector_a) {
    d.m = d.transpose_a ? a.back() : a[a.size() - 2];
    d.batch_a.assign(a.begin(), a.end() - 2);
  }
  if (!d.vector_b) {
    d.n = d.transpose_b ? b[b.size() - 2] : b.back();
    d.batch_b.assign(b.begin(), b.end() - 2);
  }
  if (d.k_a != d.k_b && d.k_a != kDynamicDim && d.k_b != kDynamicDim) {
    return fail(Code::shape_mismatch,
                "{}: inputs are {} and {}, inner extents {} and {} differ; check the shapes",
                context.label(), to_string(a), to_string(b), d.k_a, d.k_b);
  }
  return d;
}

Status matmul_rule(OpContext& context) {
  Operand& y = context.outputs[0];
  y.dtype = context.inputs[0].dtype;
  if (!context.inputs[0].has_shape || !context.inputs[1].has_shape) return {};
  ANYNPU_ASSIGN(const MatMulDims d, matmul_dims(context));
  ANYNPU_ASSIGN(y.shape, broadcast(d.batch_a, d.batch_b), "{}", context.label());
  if (!d.vector_a) y.shape.push_back(d.m);
  if (!d.vector_b) y.shape.push_back(d.n);
  y.has_shape = true;
  return {};
}

// C is one row; Z has the shape of Y.
Status check_added(const OpContext& context) {
  const Operand& y = context.outputs[0];
  if (context.has_input(2) && context.inputs[2].has_shape &&
      (context.inputs[2].rank() != 1 || context.inputs[2].shape[0] != y.shape.back())) {
    return fail(Code::shape_mismatch, "{}: C is {}, expected {}", context.label(),
                to_string(context.inputs[2].shape), y.shape.back());
  }
  if (context.has_input(3) && context.inputs[3].has_shape && context.inputs[3].shape != y.shape) {
    return fail(Code::shape_mismatch, "{}: Z is {}, expected {}", context.label(),
                to_string(context.inputs[3].shape), to_string(y.shape));
  }
  return {};
}

Status fused_matmul_rule(OpContext& context) {
  ANYNPU_TRY(matmul_rule(context));
  if (!context.outputs[0].has_shape) return {};
  if (context.inputs[0].rank() < 2 || context.inputs[1].rank() < 2) {
    return fail(Code::unsupported_shape, "{}: inputs are {} and {}, expected two matrices",
                context.label(), to_string(context.inputs[0].shape),
                to_string(context.inputs[1].shape));
  }
  return check_added(context);
}

Status gemm_rule(OpContext& context) {
  const Operand &a = context.inputs[0], &b = context.inputs[1];
  Operand& y = context.outputs[0];
  y.dtype = a.dtype;
  if (!a.has_shape || !b.has_shape) return {};
  if (a.rank() != 2 || b.rank() != 2) {
    return fail(Code::unsupported_shape, "{}: inputs are {} and {}, expected two matrices",
                context.label(), to_string(a.shape), to_string(b.shape));
  }
  const size_t ta = context.int_attr("transA") != 0, tb = context.int_attr("transB") != 0;
  const int64_t k_a = a.shape[1 - ta], k_b = b.shape[tb];
  if (k_a != k_b && k_a != kDynamicDim && k_b != kDynamicDim) {
    return fail(Code::shape_mismatch,
                "{}: A is {} (transA {}), B is {} (transB {}), inner extents {} and {} differ",
                context.label(), to_string(a.shape), ta, to_string(b.shape), tb, k_a, k_b);
  }
  y.shape = {a.shape[ta], b.shape[1 - tb]};
  y.has_shape = true;
  if (context.has_input(2) && context.inputs[2].has_shape) {
    const auto both = broadcast(context.inputs[2].shape, y.shape);
    if (!both.ok() || (is_static(y.shape) && is_static(*both) && *both != y.shape)) {
      return fail(Code::shape_mismatch, "{}: C is {}, expected a shape that broadcasts to {}",
                  context.label(), to_string(context.inputs[2].shape), to_string(y.shape));
    }
  }
  return {};
}

void fill_batches(GemmShape& g, const MatMulDims& d, const Shape& batch) {
  const BroadcastLoop loop = broadcast_loop(d.batch_a, d.batch_b, batch);
  const int64_t count = element_count(batch);
  for (int64_t i = 0; i < count; ++i) {
    int64_t a = 0, b = 0;
    loop.offsets(i / loop.inner, a, b);
    a += i % loop.inner * loop.inner_a;
    b += i % loop.inner * loop.inner_b;
    g.batch_a.push_back(a * d.m * d.k_a);
    g.batch_b.push_back(b * d.k_b * d.n);
  }
}

}  // namespace

Status read_activation(const OpContext& context, GemmShape& g) {
  const std::string name = context.string_attr("activation");
  if (name == "Gelu") {
    g.activation_function = RowFunction::gelu;
  } else if (name == "GeluTanh") {
    g.activation_function = RowFunction::gelu_tanh;
  } else if (name == "Tanh") {
    g.activation_function = RowFunction::tanh;
  } else {
    ANYNPU_ASSIGN(g.activation, activation_of(context));
  }
  return {};
}

Result<GemmShape> gemm_shape_of(const OpContext& context) {
  GemmShape g;
  if (context.schema->name == "MatMul" || context.schema->name == "FusedMatMul") {
    ANYNPU_ASSIGN(const MatMulDims d, matmul_dims(context));
    ANYNPU_ASSIGN(const Shape batch, broadcast(d.batch_a, d.batch_b), "{}", context.label());
    if (element_count(batch) > kMostMatrices) {
      return fail(Code::unsupported_shape, "{}: {} matrices, expected at most {}", context.label(),
                  element_count(batch), kMostMatrices);
    }
    g.m = d.m;
    g.n = d.n;
    g.k = d.k_a;
    g.transpose_a = d.transpose_a;
    g.transpose_b = d.transpose_b;
    fill_batches(g, d, batch);
    if (context.schema->name == "MatMul") return g;
    g.alpha = context.float_attr("alpha");
    g.has_c = context.has_input(2);
    g.c_column = 1;
    g.has_z = context.has_input(3);
    ANYNPU_TRY(read_activation(context, g));
    return g;
  }
  const Shape &a = context.inputs[0].shape, &y = context.outputs[0].shape;
  g.transpose_a = context.int_attr("transA") != 0;
  g.transpose_b = context.int_attr("transB") != 0;
  g.m = y[0];
  g.n = y[1];
  g.k = a[g.transpose_a ? 0 : 1];
  g.alpha = context.float_attr("alpha");
  g.beta = context.float_attr("beta");
  g.batch_a = g.batch_b = {0};
  if (context.has_input(2)) {
    const Shape& c = context.inputs[2].shape;
    g.has_c = true;
    const int64_t columns = c.empty() ? 1 : c.back();
    g.c_column = columns == 1 ? 0 : 1;
    g.c_row = c.size() < 2 || c[c.size() - 2] == 1 ? 0 : columns;
  }
  ANYNPU_TRY(read_activation(context, g));
  return g;
}

void add_gemm_schemas(Registry& registry) {
  const std::vector<AttrSchema> attrs = {{"alpha", AttrKind::f, 1.0f},
                                         {"beta", AttrKind::f, 1.0f},
                                         {"transA", AttrKind::i, int64_t{0}},
                                         {"transB", AttrKind::i, int64_t{0}}};
  OpSchema gemm{.name = "Gemm",
                .since = 7,
                .inputs = {{"A", "T"}, {"B", "T"}, {"C", "T"}},
                .outputs = {{"Y", "T"}},
                .types = {{"T", kGemmTypes}},
                .attrs = attrs,
                .traits = OpTraits::matrix().with(CostClass::product),
                .shape = gemm_rule};
  registry.add(gemm);
  gemm.since = 11;
  gemm.inputs[2].presence = Presence::optional;
  registry.add(gemm);
  OpSchema fused = gemm;
  fused.name = "FusedGemm";
  fused.domain = "anynpu";
  fused.traits = OpTraits::matrix();
  fused.since = 1;
  fused.attrs.push_back({"activation", AttrKind::s, ""});
  fused.attrs.push_back({"activation_min", AttrKind::f, std::numeric_limits<float>::lowest()});
  fused.attrs.push_back({"activation_max", AttrKind::f, std::numeric_limits<float>::max()});
  for (const AttrSchema& attr : program_attributes()) fused.attrs.push_back(attr);
  registry.add(fused);
  OpSchema fused_matmul = fused;
  fused_matmul.name = "FusedMatMul";
  fused_matmul.traits = OpTraits::general();
  fused_matmul.inputs.push_back({"Z", "T", Presence::optional});
  std::erase_if(fused_matmul.attrs, [](const AttrSchema& attr) { return attr.name == "beta"; });
  fused_matmul.shape = fused_matmul_rule;
  registry.add(fused_matmul);
  registry.add(OpSchema{.name = "MatMul",
                        .since = 1,
                        .inputs = {{"A", "T"}, {"B", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kGemmTypes}},
                        .traits = OpTraits::matrix().with(CostClass::product),
                        .shape = matmul_rule});
}

}  // namespace anynpu::ops::gemm
