// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

// A matrix in FRACTAL_NZ that is described only by its blocks counts as whole blocks.
ValueId matrix(Builder& b, size_t index) {
  const ValueId value = b.in(index);
  if (!b.ok() || b.op().inputs[index].format != Format::fractal_nz || b.rank(value) < 4)
    return value;
  const Shape& s = b.shape(value);
  Shape plain(s.begin(), s.end() - 4);
  plain.push_back(s[s.size() - 3] * s[s.size() - 2]);
  plain.push_back(s[s.size() - 4] * s[s.size() - 1]);
  return from_blocked(b, value, Format::fractal_nz, Format::nd, plain);
}

ValueId transposed(Builder& b, ValueId value, bool wanted) {
  if (!b.ok() || !wanted) return value;
  const int64_t rank = b.rank(value);
  if (rank < 2) {
    b.refuse(Code::unsupported_shape, "{} cannot be transposed, expected a matrix",
             to_string(b.shape(value)));
    return kNoValue;
  }
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[static_cast<size_t>(rank) - 1], order[static_cast<size_t>(rank) - 2]);
  return b.transpose(value, order);
}

// int8 is multiplied exactly, into int32.
ValueId product(Builder& b, ValueId x, ValueId y) {
  if (!b.ok()) return kNoValue;
  const bool bytes = b.dtype(x) == DType::i8 || b.dtype(x) == DType::u8;
  if (bytes) return b.node("MatMulInteger", 10, {x, y});
  // The sum of a product of 16-bit floats is kept in fp32 when the output is fp32.
  if (b.output_count() > 0 && b.op().outputs[0].dtype == DType::f32) {
    x = widened(b, x);
    y = widened(b, y);
  }
  return b.node("MatMul", 13, {x, y});
}

void multiply(Builder& b, bool first, bool second) {
  ValueId y = product(b, transposed(b, matrix(b, 0), first), transposed(b, matrix(b, 1), second));
  if (b.has(2)) y = b.node("Add", 13, {y, b.cast(b.in(2), b.dtype(y))});
  if (b.ok() && b.op().outputs[0].format == Format::fractal_nz &&
      b.op().outputs[0].storage_format == Format::undefined) {
    y = to_blocked(b, y, Format::nd, Format::fractal_nz, b.op().outputs[0].dtype);
  }
  const bool widened = b.ok() && b.dtype(y) != b.op().outputs[0].dtype && b.dtype(y) == DType::i32;
  b.out(0, y, widened ? Type::any : Type::same);
}

}  // namespace

void lower_matmul(Builder& b) {
  multiply(b, b.flag("transpose_x1", false), b.flag("transpose_x2", false));
}
void lower_batch_matmul(Builder& b) {
  multiply(b, b.flag("adj_x1", false), b.flag("adj_x2", false));
}

// alpha * a b + beta * c, with alpha and beta as tensors.
void lower_gemm(Builder& b) {
  ValueId y = product(b, transposed(b, matrix(b, 0), b.flag("transpose_a", false)),
                      transposed(b, matrix(b, 1), b.flag("transpose_b", false)));
  if (!b.ok()) return;
  const DType sum = b.dtype(y);
  if (b.has(3)) y = b.node("Mul", 13, {y, b.cast(b.in(3), sum)});
  if (b.has(2)) {
    ValueId c = b.cast(b.in(2), sum);
    if (b.has(4)) c = b.node("Mul", 13, {c, b.cast(b.in(4), sum)});
    y = b.node("Add", 13, {y, c});
  }
  b.out(0, y, sum == DType::i32 ? Type::any : Type::same);
}

// x flattened from `axis` on times w (num_output rows unless transposed), plus a bias.
void lower_fully_connection(Builder& b) {
  const ValueId x = b.in(0), w = b.in(1);
  if (!b.ok()) return;
  const int64_t axis = b.axis(b.i("axis", 1), x);
  if (!b.has_rank(w, "the weights", 1)) return;
  const bool transpose = b.flag("transpose", false);
  if (!transpose) b.counts("num_output", b.shape(w)[0], "rows of weights are described");
  const ValueId rows = b.node("Flatten", 13, {x}, {{"axis", axis}});
  const ValueId columns = b.node("Flatten", 13, {w}, {{"axis", int64_t{1}}});
  ValueId y = product(b, rows, transposed(b, columns, !transpose));
  if (transpose && b.ok()) b.counts("num_output", b.shape(y).back(), "columns come out");
  if (b.has(2)) y = b.node("Add", 13, {y, b.cast(b.in(2), b.dtype(y))});
  if (b.ok() && axis != 1) {
    Shape shape(b.shape(x).begin(), b.shape(x).begin() + axis);
    shape.push_back(-1);
    y = b.reshape(y, shape);
  }
  b.out(0, y, b.dtype(y) == DType::i32 ? Type::any : Type::same);
}

void lower_einsum(Builder& b) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < b.input_count(); ++i) inputs.push_back(b.in(i));
  b.counts("N", static_cast<int64_t>(inputs.size()), "tensors are described");
  b.out(0, b.node("Einsum", 12, inputs, {{"equation", b.s("equation", "")}}));
}

}  // namespace anynpu::singleop
