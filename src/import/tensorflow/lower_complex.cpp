// SPDX-License-Identifier: Apache-2.0
// Operators on complex numbers. Those that move elements take them as they are; the others are
// functions of elements (ops/elementwise/complex_functions.cpp), or the same operator on real and
// imaginary parts, put together again.
#include <algorithm>

#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"
#include "ops/dtype_set.h"

namespace anynpu::tensorflow {

namespace {

struct ComplexRow {
  std::string_view name;  // TensorFlow's
  void (*lower)(Builder& b, const ComplexRow& row);
  const char* function = "";  // of complex_functions.cpp, or the sum that belongs to a product
};

bool is_complex(Builder& b, const Tensor& tensor) {
  const ValueId id = tensor.plain != kNoValue ? tensor.plain : tensor.first;
  return id != kNoValue && ops::kComplex.has(b.dtype(id));
}

ValueId from_parts(Builder& b, ValueId real, ValueId imaginary, bool polar = false) {
  return b.node("anynpu.ToComplex", 1, {real, imaginary}, {{"polar", int64_t{polar}}});
}

// The inputs of the current node with a real function of each complex one in its place.
std::vector<Tensor> real_inputs(Builder& b, const char* function) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < b.input_count(); ++i) {
    Tensor input = b.tensor(i);
    if (is_complex(b, input)) {
      input = {};
      input.plain = complex_function(b, function, b.in(i));
    }
    inputs.push_back(input);
  }
  return inputs;
}

void by_function(Builder& b, const ComplexRow& row) {
  const Builder::Aligned x = b.aligned();
  if (!b.ok() || x.ids.empty()) return;
  b.out_aligned(
      0, complex_function(b, row.function, x.ids[0], x.ids.size() > 1 ? x.ids[1] : kNoValue), x);
}

// Sums: the operator on each part.
void by_parts(Builder& b, const ComplexRow&) {
  const auto real = b.lower_as(b.def(), &b.row(), real_inputs(b, "Real"));
  const auto imaginary = b.lower_as(b.def(), &b.row(), real_inputs(b, "Imag"));
  for (size_t i = 0; i < real.size() && i < imaginary.size(); ++i)
    b.out(i, from_parts(b, b.plain(real[i]), b.plain(imaginary[i])));
}

// Products: that of absolute values, and the sum of angles.
void by_angles(Builder& b, const ComplexRow& row) {
  NodeDef sum = b.def();
  sum.op = row.function;
  const auto length = b.lower_as(b.def(), &b.row(), real_inputs(b, "Abs"));
  const auto angle = b.lower_as(sum, find_tf_op(sum.op), real_inputs(b, "Angle"));
  if (!b.ok() || length.empty() || angle.empty()) return;
  b.out(0, from_parts(b, b.plain(length[0]), b.plain(angle[0]), true));
}

// Products of matrices: four of parts. `adj_x` and `adj_y` ask for conjugates too.
void by_four(Builder& b, const ComplexRow& row) {
  if (b.input_count() != 2) return by_parts(b, row);
  const auto real = real_inputs(b, "Real");
  auto imaginary = real_inputs(b, "Imag");
  const char* const adjoint[] = {"adj_x", "adj_y"};
  for (size_t i = 0; i < 2; ++i) {
    if (b.flag(adjoint[i], false)) imaginary[i].plain = b.node("Neg", 13, {imaginary[i].plain});
  }
  const auto product = [&](const Tensor& x, const Tensor& y) {
    const auto made = b.lower_as(b.def(), &b.row(), {x, y});
    return made.empty() ? kNoValue : b.plain(made[0]);
  };
  if (!b.ok()) return;
  const ValueId first = sub(b, product(real[0], real[1]), product(imaginary[0], imaginary[1]));
  const ValueId second = add(b, product(real[0], imaginary[1]), product(imaginary[0], real[1]));
  b.out(0, from_parts(b, first, second));
}

// A real result of absolute values, as a complex number.
void by_length(Builder& b, const ComplexRow&) {
  const auto made = b.lower_as(b.def(), &b.row(), real_inputs(b, "Abs"));
  if (!b.ok() || made.empty()) return;
  const ValueId length = b.plain(made[0]);
  b.out(0, from_parts(b, length, b.scalar(b.dtype(length), 0)));
}

void by_conjugate(Builder& b, const ComplexRow&) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < b.input_count(); ++i) inputs.push_back(b.tensor(i));
  inputs[0] = {};
  inputs[0].plain = complex_function(b, "Conj", b.in(0));
  const auto made = b.lower_as(b.def(), &b.row(), inputs);
  if (b.ok() && !made.empty()) b.out(0, made[0]);
}

constexpr ComplexRow kComplexRows[] = {
    {"AccumulateNV2", by_parts},
    {"Acos", by_function, "Acos"},
    {"Acosh", by_function, "Acosh"},
    {"Add", by_function, "Add"},
    {"AddN", by_parts},
    {"AddV2", by_function, "Add"},
    {"Angle", by_function, "Angle"},
    {"Asin", by_function, "Asin"},
    {"Asinh", by_function, "Asinh"},
    {"Atan", by_function, "Atan"},
    {"Atanh", by_function, "Atanh"},
    {"BatchMatMul", by_four},
    {"BatchMatMulV2", by_four},
    {"BatchMatMulV3", by_four},
    {"BiasAdd", by_parts},
    {"ComplexAbs", by_function, "Abs"},
    {"Conj", by_function, "Conj"},
    {"ConjugateTranspose", by_conjugate},
    {"Cos", by_function, "Cos"},
    {"Cosh", by_function, "Cosh"},
    {"Cumprod", by_angles, "Cumsum"},
    {"Cumsum", by_parts},
    {"Div", by_function, "Div"},
    {"DivNoNan", by_function, "DivNoNan"},
    {"Einsum", by_four},
    {"Equal", by_function, "Equal"},
    {"EuclideanNorm", by_length},
    {"Exp", by_function, "Exp"},
    {"Expm1", by_function, "Expm1"},
    {"Imag", by_function, "Imag"},
    {"Inv", by_function, "Reciprocal"},
    {"Log", by_function, "Log"},
    {"Log1p", by_function, "Log1p"},
    {"MatMul", by_four},
    {"Mean", by_parts},
    {"Mul", by_function, "Mul"},
    {"MulNoNan", by_function, "MulNoNan"},
    {"Neg", by_function, "Neg"},
    {"NotEqual", by_function, "NotEqual"},
    {"Pow", by_function, "Pow"},
    {"Prod", by_angles, "Sum"},
    {"Real", by_function, "Real"},
    {"RealDiv", by_function, "Div"},
    {"Reciprocal", by_function, "Reciprocal"},
    {"Rsqrt", by_function, "Rsqrt"},
    {"ScatterNd", by_parts},
    {"ScatterNdNonAliasingAdd", by_parts},
    {"SegmentMean", by_parts},
    {"SegmentProd", by_angles, "SegmentSum"},
    {"SegmentSum", by_parts},
    {"Sigmoid", by_function, "Sigmoid"},
    {"Sign", by_function, "Sign"},
    {"Sin", by_function, "Sin"},
    {"Sinh", by_function, "Sinh"},
    {"SparseTensorDenseAdd", by_parts},
    {"Sqrt", by_function, "Sqrt"},
    {"Square", by_function, "Square"},
    {"SquaredDifference", by_function, "SquaredDifference"},
    {"Sub", by_function, "Sub"},
    {"Sum", by_parts},
    {"Tan", by_function, "Tan"},
    {"Tanh", by_function, "Tanh"},
    {"TensorScatterAdd", by_parts},
    {"TensorScatterSub", by_parts},
    {"UnsortedSegmentProd", by_angles, "UnsortedSegmentSum"},
    {"UnsortedSegmentSum", by_parts},
    {"Xdivy", by_function, "Xdivy"},
    {"Xlog1py", by_function, "Xlog1py"},
    {"Xlogy", by_function, "Xlogy"},
};

}  // namespace

ValueId complex_function(Builder& b, const char* function, ValueId x, ValueId y) {
  return b.node("anynpu.ComplexFunction", 1, {x, y}, {{"function", std::string(function)}});
}

bool lower_complex(Builder& b) {
  bool any = false;
  for (size_t i = 0; i < b.input_count(); ++i) any = any || is_complex(b, b.tensor(i));
  if (!any) return false;
  const auto found = std::find_if(std::begin(kComplexRows), std::end(kComplexRows),
                                  [&](const ComplexRow& row) { return row.name == b.type(); });
  if (found == std::end(kComplexRows)) return false;
  found->lower(b, *found);
  return true;
}

void lower_make_complex(Builder& b) {
  const ValueId real = b.in(0), imaginary = b.in(1);
  if (b.ok()) b.out(0, from_parts(b, real, imaginary));
}

}  // namespace anynpu::tensorflow
