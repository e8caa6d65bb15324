// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/decompose.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/elements/wide.h"
#include "ops/linalg/matrix.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops::linalg {

namespace decompose {

namespace {

Shape batch_of(const Operand& x) { return Shape(x.shape.begin(), x.shape.end() - 2); }
int64_t rows_of(const Operand& x) { return x.shape[x.shape.size() - 2]; }
int64_t columns_of(const Operand& x) { return x.shape.back(); }

Status check_matrices(const OpContext& context, size_t input, bool square) {
  const Operand& x = context.inputs[input];
  const bool fits = x.fully_known() && x.rank() >= 2 && (!square || rows_of(x) == columns_of(x));
  if (fits) return {};
  return fail(Code::shape_mismatch, "{}: input {} is {}, expected {}matrices", context.label(), input,
              to_string(x.shape), square ? "square " : "");
}

void set(OpContext& context, size_t output, int64_t rows, int64_t columns) {
  if (output >= context.outputs.size()) return;
  Shape shape = batch_of(context.inputs[0]);
  shape.push_back(rows);
  if (columns >= 0) shape.push_back(columns);
  context.outputs[output].dtype = context.inputs[0].dtype;
  context.outputs[output].shape = std::move(shape);
  context.outputs[output].has_shape = true;
}

Status same_rule(OpContext& context) {
  ANYNPU_TRY(check_matrices(context, 0, true));
  set(context, 0, rows_of(context.inputs[0]), columns_of(context.inputs[0]));
  return {};
}

// `complete`: Q is square.
Status qr_rule(OpContext& context) {
  ANYNPU_TRY(check_matrices(context, 0, false));
  const int64_t m = rows_of(context.inputs[0]), n = columns_of(context.inputs[0]);
  const int64_t k = context.int_attr("complete") != 0 ? m : std::min(m, n);
  set(context, 0, m, k);
  set(context, 1, k, n);
  return {};
}

Status svd_rule(OpContext& context) {
  ANYNPU_TRY(check_matrices(context, 0, false));
  const int64_t m = rows_of(context.inputs[0]), n = columns_of(context.inputs[0]);
  const int64_t k = std::min(m, n);
  const bool full = context.int_attr("full") != 0;
  set(context, 0, m, full ? m : k);
  set(context, 1, k, -1);
  set(context, 2, n, full ? n : k);
  return {};
}

// A x = b for the triangle of A; inputs b, A.
Status solve_rule(OpContext& context) {
  ANYNPU_TRY(check_matrices(context, 0, false));
  ANYNPU_TRY(check_matrices(context, 1, true));
  if (rows_of(context.inputs[0]) != rows_of(context.inputs[1]) ||
      batch_of(context.inputs[0]) != batch_of(context.inputs[1])) {
    return fail(Code::shape_mismatch, "{}: b is {} and A {}, expected the same rows and batches",
                context.label(), to_string(context.inputs[0].shape),
                to_string(context.inputs[1].shape));
  }
  set(context, 0, rows_of(context.inputs[0]), columns_of(context.inputs[0]));
  return {};
}

// Reads matrix `index` of an input, and writes one of an output.
Matrix read(const Operand& x, const std::byte* data, int64_t index) {
  Matrix matrix(rows_of(x), columns_of(x));
  load_block<double>(x.dtype)(data, index * matrix.count(), 1, matrix.data(), matrix.count());
  return matrix;
}
void write(DType type, std::byte* data, int64_t index, const Matrix& matrix) {
  store_block<double>(type)(data, index * matrix.count(), matrix.data(), matrix.count());
}

// A plan that goes matrix by matrix.
template <typename Each>
PlanResult each_matrix(const OpContext& context, Each each) {
  const int64_t count = element_count(batch_of(context.inputs[0]));
  const std::vector<Operand> inputs = context.inputs;
  return make_checked_plan([=](const RunArgs& args) -> Status {
    for (int64_t i = 0; i < count; ++i) {
      if (Status status = each(inputs, args, i); !status.ok()) return status;
    }
    return {};
  });
}

PlanResult plan_cholesky(const OpContext& context) {
  const bool upper = context.int_attr("upper") != 0;
  const std::string label = context.label();
  return each_matrix(context, [=](const auto& inputs, const RunArgs& args, int64_t i) -> Status {
    Matrix a = read(inputs[0], args.inputs[0], i);
    if (upper) a = a.transposed();
    if (const int64_t bad = cholesky(a); bad >= 0) {
      return fail(Code::invalid_argument,
                  "{}: matrix {} is not positive-definite: its leading minor of order {} is not",
                  label, i, bad + 1);
    }
    write(inputs[0].dtype, args.outputs[0], i, upper ? a.transposed() : a);
    return {};
  });
}

PlanResult plan_qr(const OpContext& context) {
  const bool complete = context.int_attr("complete") != 0;
  return each_matrix(context, [=](const auto& inputs, const RunArgs& args, int64_t i) -> Status {
    const Qr parts = qr(read(inputs[0], args.inputs[0], i), complete);
    write(inputs[0].dtype, args.outputs[0], i, parts.q);
    write(inputs[0].dtype, args.outputs[1], i, parts.r);
    return {};
  });
}

PlanResult plan_svd(const OpContext& context) {
  const bool full = context.int_attr("full") != 0;
  const bool vectors = context.outputs[0].present;
  return each_matrix(context, [=](const auto& inputs, const RunArgs& args, int64_t i) -> Status {
    const Svd parts = svd(read(inputs[0], args.inputs[0], i), full);
    Matrix values(1, static_cast<int64_t>(parts.values.size()));
    std::copy(parts.values.begin(), parts.values.end(), values.data());
    write(inputs[0].dtype, args.outputs[1], i, values);
    if (!vectors) return {};
    write(inputs[0].dtype, args.outputs[0], i, parts.u);
    write(inputs[0].dtype, args.outputs[2], i, parts.v);
    return {};
  });
}

PlanResult plan_solve(const OpContext& context) {
  const Triangle triangle{context.int_attr("upper") != 0, context.int_attr("transpose") != 0,
                          context.int_attr("unit") != 0};
  return each_matrix(context, [=](const auto& inputs, const RunArgs& args, int64_t i) -> Status {
    Matrix b = read(inputs[0], args.inputs[0], i);
    solve(read(inputs[1], args.inputs[1], i), triangle, b);
    write(inputs[0].dtype, args.outputs[0], i, b);
    return {};
  });
}

PlanResult plan_inverse(const OpContext& context) {
  const std::string label = context.label();
  return each_matrix(context, [=](const auto& inputs, const RunArgs& args, int64_t i) -> Status {
    Matrix a = read(inputs[0], args.inputs[0], i);
    if (!invert(a)) {
      return fail(Code::invalid_argument, "{}: matrix {} is singular and has no inverse", label, i);
    }
    write(inputs[0].dtype, args.outputs[0], i, a);
    return {};
  });
}

}  // namespace

}  // namespace decompose

void register_decompositions(Registry& registry) {
  const auto flag = [](std::string_view name) {
    return AttrSchema{name, AttrKind::i, int64_t{0}};
  };
  const auto add = [&](OpSchema schema, decltype(KernelDef::create) create) {
    schema.domain = "anynpu";
    schema.since = 1;
    schema.types = {{"T", kFloats}};
    schema.traits = OpTraits::general();
    const KernelDef kernel{.op = schema.name,
                           .name = "reference",
                           .domain = "anynpu",
                           .types = kFloats,
                           .create = create};
    registry.add(std::move(schema));
    registry.add(kernel);
  };
  using namespace decompose;
  add({.name = "Cholesky",
       .inputs = {{"A", "T"}},
       .outputs = {{"L", "T"}},
       .attrs = {flag("upper")},
       .shape = same_rule},
      create_plain<plan_cholesky>);
  add({.name = "Qr",
       .inputs = {{"A", "T"}},
       .outputs = {{"Q", "T"}, {"R", "T"}},
       .attrs = {flag("complete")},
       .shape = qr_rule},
      create_plain<plan_qr>);
  add({.name = "Svd",
       .inputs = {{"A", "T"}},
       .outputs = {{"U", "T"}, {"S", "T"}, {"V", "T"}},
       .attrs = {flag("full")},
       .shape = svd_rule},
      create_plain<plan_svd>);
  add({.name = "TriangularSolve",
       .inputs = {{"b", "T"}, {"A", "T"}},
       .outputs = {{"X", "T"}},
       .attrs = {flag("upper"), flag("transpose"), flag("unit")},
       .shape = solve_rule},
      create_plain<plan_solve>);
  add({.name = "Inverse",
       .inputs = {{"A", "T"}},
       .outputs = {{"Y", "T"}},
       .shape = same_rule},
      create_plain<plan_inverse>);
}

}  // namespace anynpu::ops::linalg
