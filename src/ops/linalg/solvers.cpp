// SPDX-License-Identifier: Apache-2.0
// Operators of domain anynpu on batches of matrices, which are computed in double: Cholesky,
// Inverse, MatrixSolve, TriangularSolve, LogDeterminant, Lu, Qr, Svd, SymmetricEigen,
// MatrixSquareRoot, MatrixLogarithm. Leading axes are batches.
#include <algorithm>
#include <cmath>

#include "ops/broadcast.h"
#include "ops/elements/wide.h"
#include "ops/linalg/dense.h"
#include "ops/linalg/linalg.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::linalg {

namespace {

constexpr DTypeSet kFloatsAndComplex = kFloats | DTypeSet{DType::c64, DType::c128};

Shape batch_of(const Operand& x) { return {x.shape.begin(), x.shape.end() - 2}; }
int64_t rows_of(const Operand& x) { return x.shape[x.shape.size() - 2]; }
int64_t columns_of(const Operand& x) { return x.shape.back(); }
int64_t smaller(int64_t m, int64_t n) { return m < 0 || n < 0 ? kDynamicDim : std::min(m, n); }

// False: a shape is not known yet. Outputs have the type of the first input.
Result<bool> check_matrices(OpContext& context, size_t square) {
  for (Operand& output : context.outputs) output.dtype = context.inputs[0].dtype;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const Operand& x = context.inputs[i];
    if (!x.has_shape) return false;
    const bool fits = x.rank() >= 2 && (i != square || rows_of(x) == columns_of(x) ||
                                        rows_of(x) < 0 || columns_of(x) < 0);
    if (fits) continue;
    return fail(Code::shape_mismatch, "{}: input {} is {}, expected {}matrices", context.label(), i,
                to_string(x.shape), i == square ? "square " : "");
  }
  return true;
}
constexpr size_t kNoneSquare = 99;

Status set(OpContext& context, size_t output, Shape batch, std::initializer_list<int64_t> last) {
  if (output >= context.outputs.size()) return {};
  batch.insert(batch.end(), last);
  return set_output(context, output, context.inputs[0].dtype, std::move(batch));
}

Status same_rule(OpContext& context) {
  ANYNPU_ASSIGN(const bool known, check_matrices(context, 0));
  return known ? set_output(context, 0, context.inputs[0].dtype, context.inputs[0].shape)
               : Status{};
}

Status log_determinant_rule(OpContext& context) {
  ANYNPU_ASSIGN(const bool known, check_matrices(context, 0));
  if (!known) return {};
  ANYNPU_TRY(set(context, 0, batch_of(context.inputs[0]), {}));
  return set(context, 1, batch_of(context.inputs[0]), {});
}

Status lu_rule(OpContext& context) {
  ANYNPU_TRY(same_rule(context));
  context.outputs[1].dtype = DType::i64;
  if (!context.inputs[0].has_shape) return {};
  ANYNPU_TRY(set(context, 1, batch_of(context.inputs[0]), {rows_of(context.inputs[0])}));
  context.outputs[1].dtype = DType::i64;
  return {};
}

// `complete`: Q is square.
Status qr_rule(OpContext& context) {
  ANYNPU_ASSIGN(const bool known, check_matrices(context, kNoneSquare));
  if (!known) return {};
  const Operand& x = context.inputs[0];
  const int64_t m = rows_of(x), n = columns_of(x);
  const int64_t k = context.int_attr("complete") != 0 ? m : smaller(m, n);
  ANYNPU_TRY(set(context, 0, batch_of(x), {m, k}));
  return set(context, 1, batch_of(x), {k, n});
}

// Outputs U, S, V; V has vectors as columns.
Status svd_rule(OpContext& context) {
  ANYNPU_ASSIGN(const bool known, check_matrices(context, kNoneSquare));
  if (!known) return {};
  const Operand& x = context.inputs[0];
  const int64_t m = rows_of(x), n = columns_of(x), k = smaller(m, n);
  const bool full = context.int_attr("full") != 0;
  ANYNPU_TRY(set(context, 0, batch_of(x), {m, full ? m : k}));
  ANYNPU_TRY(set(context, 1, batch_of(x), {k}));
  return set(context, 2, batch_of(x), {n, full ? n : k});
}

Status eigen_rule(OpContext& context) {
  ANYNPU_ASSIGN(const bool known, check_matrices(context, 0));
  if (!known) return {};
  const Operand& x = context.inputs[0];
  ANYNPU_TRY(set(context, 0, batch_of(x), {rows_of(x)}));
  return set(context, 1, batch_of(x), {rows_of(x), rows_of(x)});
}

// A x = b; inputs b, A, whose batches are broadcast.
Status solve_rule(OpContext& context) {
  ANYNPU_ASSIGN(const bool known, check_matrices(context, 1));
  if (!known) return {};
  const Operand &b = context.inputs[0], &a = context.inputs[1];
  if (rows_of(b) != rows_of(a) && rows_of(a) >= 0 && rows_of(b) >= 0) {
    return fail(Code::shape_mismatch, "{}: the matrix is {}, the right side {}; expected {} rows",
                context.label(), to_string(a.shape), to_string(b.shape), rows_of(a));
  }
  ANYNPU_ASSIGN(const Shape batch, broadcast(batch_of(b), batch_of(a)), "{}", context.label());
  return set(context, 0, batch, {rows_of(b), columns_of(b)});
}

// Reads matrix `index` of an input, and writes one of an output. A complex number is two parts.
template <typename T>
MatrixOf<T> read(const Operand& x, const std::byte* data, int64_t index) {
  MatrixOf<T> matrix(rows_of(x), columns_of(x));
  const int64_t count = matrix.count() * parts_of(x.dtype);
  load_block<double>(part_of(x.dtype))(data, index * count, 1,
                                       reinterpret_cast<double*>(matrix.data()), count);
  return matrix;
}
template <typename T>
void write(DType type, std::byte* data, int64_t index, const MatrixOf<T>& matrix) {
  const int64_t count = matrix.count() * parts_of(type);
  store_block<double>(part_of(type))(data, index * count,
                                     reinterpret_cast<const double*>(matrix.data()), count);
}
void write(DType type, std::byte* data, int64_t index, const std::vector<double>& values) {
  const auto count = static_cast<int64_t>(values.size());
  store_block<double>(type)(data, index * count, values.data(), count);
}

// A plan that goes matrix by matrix of output 0's batch. each(context, args, i) -> Status.
struct Batch {
  std::vector<Operand> inputs;
  std::vector<bool> wanted;  // outputs
  std::string label;

  template <typename T = double>
  MatrixOf<T> matrix(const RunArgs& args, size_t input, int64_t index) const {
    return read<T>(inputs[input], args.inputs[input], index);
  }
  DType type() const { return inputs[0].dtype; }
  Status failed(int64_t index, const char* what) const {
    return fail(Code::invalid_argument, "{}: matrix {} {}", label, index, what);
  }
};

template <typename Each>
PlanResult each_matrix(const OpContext& context, int64_t count, Each each) {
  Batch batch{context.inputs, {}, context.label()};
  for (const Operand& output : context.outputs) batch.wanted.push_back(output.present);
  return make_checked_plan([=](const RunArgs& args) -> Status {
    for (int64_t i = 0; i < count; ++i) {
      if (Status status = each(batch, args, i); !status.ok()) return status;
    }
    return {};
  });
}
template <typename Each>
PlanResult each_matrix(const OpContext& context, Each each) {
  return each_matrix(context, element_count(batch_of(context.inputs[0])), std::move(each));
}

using Number = std::complex<double>;

template <typename T>
PlanResult plan_cholesky_of(const OpContext& context) {
  const bool upper = context.int_attr("upper") != 0;
  return each_matrix(context, [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
    MatrixOf<T> a = batch.matrix<T>(args, 0, i);
    if (upper) a = a.transposed();
    if (const int64_t bad = cholesky(a); bad >= 0) {
      return fail(Code::invalid_argument,
                  "{}: matrix {} is not positive-definite: its leading minor of order {} is not",
                  batch.label, i, bad + 1);
    }
    write(batch.type(), args.outputs[0], i, upper ? a.transposed() : a);
    return {};
  });
}

template <typename T>
PlanResult plan_inverse_of(const OpContext& context) {
  const bool adjoint = context.int_attr("adjoint") != 0;
  return each_matrix(context, [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
    MatrixOf<T> a = batch.matrix<T>(args, 0, i);
    if (!invert(a)) return batch.failed(i, "is singular and has no inverse");
    write(batch.type(), args.outputs[0], i, adjoint ? a.transposed() : a);
    return {};
  });
}

// Which matrix of an operand belongs to matrix `index` of the output.
int64_t place_of(const Shape& batch, const Shape& own, int64_t index) {
  int64_t at = 0, stride = 1;
  for (size_t i = 0; i < batch.size(); ++i) {
    const int64_t extent = batch[batch.size() - 1 - i], coordinate = index % extent;
    index /= extent;
    if (i >= own.size()) continue;
    const int64_t own_extent = own[own.size() - 1 - i];
    at += own_extent == 1 ? 0 : coordinate * stride;
    stride *= own_extent;
  }
  return at;
}

template <typename T>
PlanResult plan_solve_of(const OpContext& context) {
  const bool triangular = context.schema->name == "TriangularSolve";
  const bool adjoint = !triangular && context.int_attr("adjoint") != 0;
  Triangle triangle{};
  if (triangular) {
    triangle = {context.int_attr("upper") != 0, context.int_attr("transpose") != 0,
                context.int_attr("unit") != 0};
  }
  const Shape shape = batch_of(context.outputs[0]);
  const Shape of_b = batch_of(context.inputs[0]), of_a = batch_of(context.inputs[1]);
  return each_matrix(context, element_count(shape),
                     [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
                       MatrixOf<T> x = batch.matrix<T>(args, 0, place_of(shape, of_b, i));
                       MatrixOf<T> a = batch.matrix<T>(args, 1, place_of(shape, of_a, i));
                       if (triangular) {
                         solve(a, triangle, x);
                       } else {
                         const Lu<T> parts = lu(adjoint ? a.transposed() : std::move(a));
                         if (parts.singular())
                           return batch.failed(i, "is singular; its system has no solution");
                         x = parts.solve(x);
                       }
                       write(batch.type(), args.outputs[0], i, x);
                       return {};
                     });
}

// A function of a complex matrix in place.
template <bool (*function)(ComplexMatrix&)>
PlanResult plan_function(const OpContext& context) {
  return each_matrix(context, [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
    ComplexMatrix a = batch.matrix<Number>(args, 0, i);
    if (!function(a)) return batch.failed(i, "has eigenvalues on the negative real axis, or 0");
    write(batch.type(), args.outputs[0], i, a);
    return {};
  });
}

PlanResult plan_log_determinant(const OpContext& context) {
  return each_matrix(context, [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
    const Lu<double> parts = lu(batch.matrix(args, 0, i));
    double sign = parts.sign, sum = 0;
    for (int64_t k = 0; k < parts.parts.rows(); ++k) {
      const double d = parts.parts.at(k, k);
      sign *= d > 0 ? 1 : d < 0 ? -1 : 0;
      sum += std::log(std::fabs(d));
    }
    write(batch.type(), args.outputs[0], i, std::vector<double>{sign});
    write(batch.type(), args.outputs[1], i, std::vector<double>{sum});
    return {};
  });
}

PlanResult plan_lu(const OpContext& context) {
  return each_matrix(context, [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
    const Lu<double> parts = lu(batch.matrix(args, 0, i));
    write(batch.type(), args.outputs[0], i, parts.parts);
    std::copy(parts.order.begin(), parts.order.end(),
              reinterpret_cast<int64_t*>(args.outputs[1]) + i * parts.parts.rows());
    return {};
  });
}

PlanResult plan_qr(const OpContext& context) {
  const bool complete = context.int_attr("complete") != 0;
  return each_matrix(context, [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
    const Qr parts = qr(batch.matrix(args, 0, i), complete);
    write(batch.type(), args.outputs[0], i, parts.q);
    write(batch.type(), args.outputs[1], i, parts.r);
    return {};
  });
}

PlanResult plan_svd(const OpContext& context) {
  const bool full = context.int_attr("full") != 0;
  return each_matrix(context, [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
    const Svd parts = svd(batch.matrix(args, 0, i), full);
    write(batch.type(), args.outputs[1], i, parts.values);
    if (!batch.wanted[0]) return {};
    write(batch.type(), args.outputs[0], i, parts.u);
    write(batch.type(), args.outputs[2], i, parts.v);
    return {};
  });
}

PlanResult plan_eigen(const OpContext& context) {
  return each_matrix(context, [=](const Batch& batch, const RunArgs& args, int64_t i) -> Status {
    const Eigen parts = symmetric_eigen(batch.matrix(args, 0, i));
    write(batch.type(), args.outputs[0], i, parts.values);
    write(batch.type(), args.outputs[1], i, parts.vectors);
    return {};
  });
}

// The plan for real numbers, or for complex ones.
template <PlanResult (*real)(const OpContext&), PlanResult (*complex)(const OpContext&)>
PlanResult plan_either(const OpContext& context) {
  return kComplex.has(context.inputs[0].dtype) ? complex(context) : real(context);
}

}  // namespace

void register_solvers(Registry& registry) {
  const auto flag = [](std::string_view name) { return AttrSchema{name, AttrKind::i, int64_t{0}}; };
  const auto add = [&](OpSchema schema, DTypeSet types, decltype(KernelDef::create) create) {
    schema.domain = "anynpu";
    schema.since = 1;
    schema.types = {{"T", types}};
    schema.traits = OpTraits::general();
    if (schema.inputs.empty()) schema.inputs = {{"A", "T"}};
    const KernelDef kernel{.op = schema.name,
                           .name = "reference",
                           .domain = "anynpu",
                           .types = types,
                           .create = create};
    registry.add(std::move(schema));
    registry.add(kernel);
  };
  const std::vector<FormalOperand> system = {{"b", "T"}, {"A", "T"}}, one = {{"Y", "T"}};
  constexpr auto solve_plan = plan_either<plan_solve_of<double>, plan_solve_of<Number>>;
  add({.name = "Cholesky", .outputs = one, .attrs = {flag("upper")}, .shape = same_rule},
      kFloatsAndComplex,
      create_plain<plan_either<plan_cholesky_of<double>, plan_cholesky_of<Number>>>);
  add({.name = "Inverse", .outputs = one, .attrs = {flag("adjoint")}, .shape = same_rule},
      kFloatsAndComplex,
      create_plain<plan_either<plan_inverse_of<double>, plan_inverse_of<Number>>>);
  add({.name = "MatrixSolve",
       .inputs = system,
       .outputs = one,
       .attrs = {flag("adjoint")},
       .shape = solve_rule},
      kFloatsAndComplex, create_plain<solve_plan>);
  add({.name = "TriangularSolve",
       .inputs = system,
       .outputs = one,
       .attrs = {flag("upper"), flag("transpose"), flag("unit")},
       .shape = solve_rule},
      kFloatsAndComplex, create_plain<solve_plan>);
  add({.name = "MatrixSquareRoot", .outputs = one, .shape = same_rule}, {DType::c64, DType::c128},
      create_plain<plan_function<square_root>>);
  add({.name = "MatrixLogarithm", .outputs = one, .shape = same_rule}, {DType::c64, DType::c128},
      create_plain<plan_function<logarithm>>);
  add({.name = "LogDeterminant",
       .outputs = {{"sign", "T"}, {"log", "T"}},
       .shape = log_determinant_rule},
      kFloats, create_plain<plan_log_determinant>);
  add({.name = "Lu", .outputs = {{"LU", "T"}, {"order", "I"}}, .shape = lu_rule}, kFloats,
      create_plain<plan_lu>);
  add({.name = "Qr",
       .outputs = {{"Q", "T"}, {"R", "T"}},
       .attrs = {flag("complete")},
       .shape = qr_rule},
      kFloats, create_plain<plan_qr>);
  add({.name = "Svd",
       .outputs = {{"U", "T"}, {"S", "T"}, {"V", "T"}},
       .attrs = {flag("full")},
       .shape = svd_rule},
      kFloats, create_plain<plan_svd>);
  add({.name = "SymmetricEigen",
       .outputs = {{"values", "T"}, {"vectors", "T"}},
       .shape = eigen_rule},
      kFloats, create_plain<plan_eigen>);
}

}  // namespace anynpu::ops::linalg
