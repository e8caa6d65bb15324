// SPDX-License-Identifier: Apache-2.0
// Operators of domain anynpu on batches of matrices: MatrixInverse, MatrixSolve,
// MatrixTriangularSolve, LogDeterminant, Lu, MatrixQr, Eigenvalues, SingularValues. Computed in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/broadcast.h"
#include "ops/elements/wide.h"
#include "ops/linalg/dense.h"
#include "ops/linalg/linalg.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::linalg {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Shape batch_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

Shape joined(Shape batch, std::initializer_list<int64_t> last) {
  batch.insert(batch.end(), last);
  return batch;
}

Status solver_rule(OpContext& context) {
  const std::string_view name = context.schema->name;
  for (Operand& output : context.outputs) output.dtype = context.inputs[0].dtype;
  for (const Operand& input : context.inputs) {
    if (!input.has_shape) return {};
    if (input.shape.size() < 2) {
      return fail(Code::shape_mismatch, "{}: an input is {}, expected matrices", context.label(),
                  to_string(input.shape));
    }
  }
  const Shape& x = context.inputs[0].shape;
  const int64_t rows = x[x.size() - 2], columns = x.back();
  const DType type = context.inputs[0].dtype;
  const bool any = name == "MatrixQr" || name == "SingularValues";
  if (!any && rows != columns && rows >= 0 && columns >= 0) {
    return fail(Code::shape_mismatch, "{}: the input is {}, expected square matrices",
                context.label(), to_string(x));
  }
  const int64_t least = rows < 0 || columns < 0 ? -1 : std::min(rows, columns);
  if (name == "MatrixSolve" || name == "MatrixTriangularSolve") {
    const Shape& right = context.inputs[1].shape;
    if (right[right.size() - 2] != rows && rows >= 0 && right[right.size() - 2] >= 0) {
      return fail(Code::shape_mismatch, "{}: the matrix is {}, the right side {}; expected {} rows",
                  context.label(), to_string(x), to_string(right), rows);
    }
    ANYNPU_ASSIGN(const Shape batch, broadcast(batch_of(x), batch_of(right)));
    return set_output(context, 0, type, joined(batch, {rows, right.back()}));
  }
  if (name == "LogDeterminant") {
    ANYNPU_TRY(set_output(context, 0, type, batch_of(x)));
    return set_output(context, 1, type, batch_of(x));
  }
  if (name == "Eigenvalues" || name == "SingularValues")
    return set_output(context, 0, type, joined(batch_of(x), {least}));
  if (name == "MatrixQr") {
    const int64_t inner = context.int_attr("full_matrices") != 0 ? rows : least;
    ANYNPU_TRY(set_output(context, 0, type, joined(batch_of(x), {rows, inner})));
    return set_output(context, 1, type, joined(batch_of(x), {inner, columns}));
  }
  ANYNPU_TRY(set_output(context, 0, type, x));
  if (name == "Lu") return set_output(context, 1, DType::i64, joined(batch_of(x), {rows}));
  return {};
}

// What one matrix needs: where it is read and written, in elements.
struct Work {
  int64_t rows = 0, columns = 0, right = 0;  // right: columns of the right side
  bool lower = true, adjoint = false, full = false;
  double* a = nullptr;      // the matrix
  double* b = nullptr;      // the right side, or Q
  double* values = nullptr;
  int64_t* order = nullptr;
};

void transpose(double* m, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) std::swap(m[i * n + j], m[j * n + i]);
  }
}

// Solves with LU; a singular matrix gives no numbers.
void solve(Work& w, double* scratch) {
  const int64_t n = w.rows;
  decompose_lu(w.a, n, w.order);
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(w.b + w.order[i] * w.right, w.right, scratch + i * w.right);
  }
  std::copy_n(scratch, n * w.right, w.b);
  solve_lu(w.a, n, w.b, w.right);
}

PlanResult plan_solver(const OpContext& context) {
  const std::string name(context.schema->name);
  const Shape x = context.inputs[0].shape, out = context.outputs[0].shape;
  const bool solves = name == "MatrixSolve" || name == "MatrixTriangularSolve";
  const bool inverts = name == "MatrixInverse";
  Work w{.rows = x[x.size() - 2],
         .columns = x.back(),
         .lower = name != "MatrixTriangularSolve" || context.int_attr("lower") != 0,
         .adjoint = (solves || inverts) && context.int_attr("adjoint") != 0,
         .full = name == "MatrixQr" && context.int_attr("full_matrices") != 0};
  w.right = solves ? context.inputs[1].shape.back() : w.columns;
  const int64_t wide = std::max({w.rows, w.columns, w.right, int64_t{1}});
  const int64_t count = solves ? element_count(batch_of(out)) : element_count(batch_of(x));
  // Which matrix of each input belongs to a matrix of the output.
  std::vector<int64_t> left(static_cast<size_t>(std::max<int64_t>(count, 0))), rights(left.size());
  if (solves) {
    const Shape batch = batch_of(out);
    const auto place = [&](const Shape& own, int64_t index) {
      int64_t at = 0, stride = 1;
      for (size_t i = 0; i < batch.size(); ++i) {
        const size_t axis = batch.size() - 1 - i;
        const int64_t coordinate = index % batch[axis];
        index /= batch[axis];
        if (i >= own.size()) continue;
        const int64_t extent = own[own.size() - 1 - i];
        at += extent == 1 ? 0 : coordinate * stride;
        stride *= extent;
      }
      return at;
    };
    for (size_t i = 0; i < left.size(); ++i) {
      left[i] = place(batch_of(x), static_cast<int64_t>(i));
      rights[i] = place(batch_of(context.inputs[1].shape), static_cast<int64_t>(i));
    }
  } else {
    for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<int64_t>(i);
  }
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.inputs[0].dtype);
  const int64_t square = wide * wide;
  auto plan = make_plan([=](const RunArgs& args) {
    auto* const room = reinterpret_cast<double*>(args.workspace);
    for (int64_t i = 0; i < count; ++i) {
      Work one = w;
      one.a = room;
      one.b = room + square;
      double* const scratch = room + 2 * square;
      one.values = room + 3 * square;
      one.order = reinterpret_cast<int64_t*>(room + 3 * square + wide);
      const int64_t size = w.rows * w.columns, from = left[static_cast<size_t>(i)] * size;
      for (int64_t r = 0; r < w.rows; ++r)  // row by row: a block of the loader is short
        load(args.inputs[0], from + r * w.columns, 1, one.a + r * w.columns, w.columns);
      const auto write = [&](size_t output, int64_t at, const double* values, int64_t number) {
        store(args.outputs[output], at, values, number);
      };
      if (solves || inverts) {
        const int64_t side = w.rows * w.right;
        if (solves) {
          load(args.inputs[1], rights[static_cast<size_t>(i)] * side, 1, one.b, side);
        } else {
          for (int64_t k = 0; k < side; ++k) one.b[k] = k % (w.rows + 1) == 0 ? 1 : 0;
        }
        if (name == "MatrixTriangularSolve") {
          solve_triangular(one.a, w.rows, one.b, w.right, w.lower, w.adjoint);
        } else {
          if (w.adjoint) transpose(one.a, w.rows);
          solve(one, scratch);
        }
        write(0, i * side, one.b, side);
      } else if (name == "LogDeterminant") {
        double sign = decompose_lu(one.a, w.rows, one.order), sum = 0;
        for (int64_t k = 0; k < w.rows; ++k) {
          const double d = one.a[k * w.rows + k];
          sign *= d > 0 ? 1 : d < 0 ? -1 : 0;
          sum += std::log(std::fabs(d));
        }
        write(0, i, &sign, 1);
        write(1, i, &sum, 1);
      } else if (name == "Lu") {
        decompose_lu(one.a, w.rows, one.order);
        write(0, i * size, one.a, size);
        auto* const order = reinterpret_cast<int64_t*>(args.outputs[1]) + i * w.rows;
        std::copy_n(one.order, w.rows, order);
      } else if (name == "MatrixQr") {
        decompose_qr(one.a, w.rows, w.columns, one.b);
        const int64_t inner = w.full ? w.rows : std::min(w.rows, w.columns);
        for (int64_t r = 0; r < w.rows; ++r)
          write(0, (i * w.rows + r) * inner, one.b + r * w.rows, inner);
        write(1, i * inner * w.columns, one.a, inner * w.columns);
      } else if (name == "Eigenvalues") {
        eigenvalues(one.a, w.rows, one.values);
        write(0, i * w.rows, one.values, w.rows);
      } else {
        // The values of a wide matrix are those of its transpose.
        if (w.rows < w.columns) {
          for (int64_t r = 0; r < w.rows; ++r) {
            for (int64_t c = 0; c < w.columns; ++c) one.b[c * w.rows + r] = one.a[r * w.columns + c];
          }
          singular_values(one.b, w.columns, w.rows, one.values);
        } else {
          singular_values(one.a, w.rows, w.columns, one.values);
        }
        const int64_t number = std::min(w.rows, w.columns);
        write(0, i * number, one.values, number);
      }
    }
  });
  plan->workspace_bytes = static_cast<size_t>(3 * square + 2 * wide) * sizeof(double);
  return plan;
}

struct SolverRow {
  std::string_view name;
  size_t inputs;
  size_t outputs;
  std::vector<AttrSchema> attrs = {};
};

}  // namespace

void register_solvers(Registry& registry) {
  const AttrSchema adjoint{"adjoint", AttrKind::i, int64_t{0}};
  const std::vector<SolverRow> rows = {
      {"MatrixInverse", 1, 1, {adjoint}},
      {"MatrixSolve", 2, 1, {adjoint}},
      {"MatrixTriangularSolve", 2, 1, {{"lower", AttrKind::i, int64_t{1}}, adjoint}},
      {"LogDeterminant", 1, 2},
      {"Lu", 1, 2},
      {"MatrixQr", 1, 2, {{"full_matrices", AttrKind::i, int64_t{0}}}},
      {"Eigenvalues", 1, 1},
      {"SingularValues", 1, 1},
  };
  for (const SolverRow& row : rows) {
    OpSchema schema{.name = row.name,
                    .domain = "anynpu",
                    .since = 1,
                    .inputs = {{"A", "T"}},
                    .outputs = {{"X", "T"}},
                    .types = {{"T", kFloats}},
                    .attrs = row.attrs,
                    .traits = OpTraits::general(),
                    .shape = solver_rule};
    if (row.inputs == 2) schema.inputs.push_back({"B", "T"});
    if (row.outputs == 2) schema.outputs.push_back({"Y", "U"});
    registry.add(schema);
    registry.add(KernelDef{.op = row.name,
                           .name = "reference",
                           .domain = "anynpu",
                           .types = kFloats,
                           .create = create_plain<plan_solver>});
  }
}

}  // namespace anynpu::ops::linalg
