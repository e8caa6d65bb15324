// SPDX-License-Identifier: Apache-2.0
// Products of quantised matrices: sums of integers are exact, then scaled. Floats of 8 bits are
// multiplied as float32.
#include <numeric>

#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

bool is_8_bit_float(DType type) {
  return type == DType::f8e4m3 || type == DType::f8e5m2 || type == DType::hif8;
}

// A matrix as integers of 8 bits or as float32, in the order of its view or turned.
Value matrix_of(Recipe& r, const char* name, bool turned) {
  bool stored = false;
  Value x = unpacked(r, r.matrix(name, stored));
  if (r.dtype(x) == DType::i4) x = r.cast(x, DType::i8);
  if (is_8_bit_float(r.dtype(x))) x = r.cast(x, DType::f32);
  if (stored == turned) return x;
  const size_t rank = r.shape(x).size();
  if (rank < 2) refuse("{} has {} axes; expected a matrix or a batch of them", name, rank);
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[rank - 1], order[rank - 2]);
  return r.transpose(x, order);
}

struct Scaling {
  Value columns, rows;  // factors of columns (or one), of rows
  Value bias, offset;
  DType bias_type = DType::undefined;
};

// A vector of N as it broadcasts to batch x M x N; one for each matrix of a batch stays so.
Value bias_of(Recipe& r, Value bias, const Shape& y) {
  const Shape s = r.shape(bias);
  if (s.size() != 1 || s[0] == y.back() || s[0] == 1) return bias;
  refuse("bias is {}; expected {} elements", to_string(s), y.back());
}

void write(Recipe& r, Value sums, const Scaling& s, Param out) {
  const Shape shape = r.shape(sums);
  const DType type = r.dtype(out);
  if (s.bias && !is_floating(s.bias_type))
    sums = r.op("Add", {sums, bias_of(r, r.cast(s.bias, r.dtype(sums)), shape)});
  if (type == DType::i32 && !s.columns && !s.rows) return r.out(out, sums);
  Value y = r.cast(sums, DType::f32);
  if (s.columns) y = r.op("Mul", {y, along(r, s.columns, shape, -1)});
  if (s.rows) y = r.op("Mul", {y, along(r, s.rows, shape, -2)});
  if (s.bias && is_floating(s.bias_type))
    y = r.op("Add", {y, bias_of(r, r.cast(s.bias, DType::f32), shape)});
  if (s.offset) y = r.op("Add", {y, along(r, s.offset, shape, -1)});
  if (type == DType::i8) y = rounded_to(r, y, type);
  r.out(out, y);
}

Value product(Recipe& r, bool turn_a, bool turn_b) {
  const Value a = matrix_of(r, "x1", turn_a), b = matrix_of(r, "x2", turn_b);
  if (r.dtype(a) == DType::f32 || r.dtype(b) == DType::f32)
    return r.op("MatMul", {r.cast(a, DType::f32), r.cast(b, DType::f32)});
  return r.op("MatMulInteger", {a, b});
}

Value optional_scale(Recipe& r, const char* name) {
  if (!r.has_parameter(name) || !r.given(name) || r.tensor(name).count() == 0) return {};
  return scale_of(r, name);
}

Scaling with_bias(Recipe& r, Scaling s, const char* name = "bias") {
  if (!r.given(name) || r.tensor(name).count() == 0) return s;
  s.bias = r.in(name);
  s.bias_type = r.dtype(name);
  return s;
}

// One number for all.
void first_version(Recipe& r) {
  Scaling s;
  s.columns = r.number("deqScale", DType::f32);
  write(r, product(r, false, false), with_bias(r, s), "out");
}

void second_version(Recipe& r) {
  Scaling s;
  s.columns = optional_scale(r, "deqScale");
  write(r, product(r, r.flag("adjX1"), r.flag("adjX2")), with_bias(r, s), "out");
}

void third_version(Recipe& r) {
  Scaling s;
  s.columns = optional_scale(r, "scale");
  s.rows = optional_scale(r, "pertokenScaleOptional");
  s.offset = optional_scale(r, "offset");
  write(r, product(r, r.flag("transposeX1"), r.flag("transposeX2")), with_bias(r, s), "out");
}

void check_groups(Recipe& r, const char* size) {
  if (r.integer(size) != 0) {
    refuse("{} is {}; expected 0: scales of blocks are not those of this operator here", size,
           r.integer(size));
  }
}

void fifth_version(Recipe& r) {
  check_groups(r, "groupSize");
  Scaling s;
  s.columns = optional_scale(r, "x2Scale");
  s.rows = optional_scale(r, "x1Scale");
  s.offset = optional_scale(r, "yOffset");
  for (const char* name : {"x1Offset", "x2Offset"}) {
    if (optional_scale(r, name)) refuse("{} is given; expected null", name);
  }
  if (const Value y = optional_scale(r, "yScale")) {
    if (s.columns && element_count(r.shape(s.columns)) == 1)
      s.columns = r.op("Mul", {s.columns, y});
    else
      s.columns = s.columns
                      ? r.op("Mul", {r.reshape(s.columns, {element_count(r.shape(s.columns))}),
                                     r.reshape(y, {element_count(r.shape(y))})})
                      : y;
  }
  write(r, product(r, r.flag("transposeX1"), r.flag("transposeX2")), with_bias(r, s), "out");
}

// With an activation behind it.
void activated_product(Recipe& r) {
  check_groups(r, "groupSizeOptional");
  for (const char* name : {"x1OffsetOptional", "x2OffsetOptional", "yScaleOptional",
                           "yOffsetOptional", "x3Optional"}) {
    if (optional_scale(r, name)) refuse("{} is given; expected null", name);
  }
  const Value sums = product(r, false, false);
  const Shape shape = r.shape(sums);
  const bool whole = r.given("biasOptional") && !is_floating(r.dtype("biasOptional"));
  Value y = sums;
  if (whole) y = r.op("Add", {y, bias_of(r, r.cast(r.in("biasOptional"), r.dtype(sums)), shape)});
  y = r.cast(y, DType::f32);
  if (const Value columns = optional_scale(r, "x2Scale"))
    y = r.op("Mul", {y, along(r, columns, shape, -1)});
  if (const Value rows = optional_scale(r, "x1Scale"))
    y = r.op("Mul", {y, along(r, rows, shape, -2)});
  if (r.given("biasOptional") && !whole)
    y = r.op("Add", {y, bias_of(r, r.cast(r.in("biasOptional"), DType::f32), shape)});
  const std::string op = r.text("fusedOpType");
  if (op != "gelu_tanh" && op != "gelu_erf" && op != "relu") {
    refuse("fusedOpType is '{}'; expected gelu_tanh, gelu_erf or relu", op);
  }
  r.out("out", op == "relu"
                   ? r.op("Relu", {y})
                   : r.op("Gelu", {y}, {{"approximate", op == "gelu_tanh" ? "tanh" : "none"}}));
}

// Added to what yRef holds.
void in_place_add(Recipe& r) {
  check_groups(r, "groupSize");
  const Value sums = product(r, r.flag("transposeX1"), r.flag("transposeX2"));
  const Shape shape = r.shape(sums);
  Value y = r.op("Mul", {r.cast(sums, DType::f32), along(r, scale_of(r, "x2Scale"), shape, -1)});
  if (const Value rows = optional_scale(r, "x1ScaleOptional"))
    y = r.op("Mul", {y, along(r, rows, shape, -2)});
  r.out("yRef", r.op("Add", {r.cast(r.in("yRef"), DType::f32), y}));
}

// quantParam has the factors of columns.
void batch_quant(Recipe& r) {
  Scaling s;
  s.columns = optional_scale(r, "quantParam");
  write(r, product(r, r.flag("transposeX1"), r.flag("transposeX2")), with_bias(r, s), "out");
}

// Products of a batch, scaled, then added up over `dims`.
void summed_product(Recipe& r) {
  check_groups(r, "groupSize");
  for (const char* name : {"yScale", "x1Offset", "x2Offset", "yOffset", "bias"}) {
    if (optional_scale(r, name)) refuse("{} is given; expected null", name);
  }
  const Value sums = product(r, r.flag("transposeX1"), r.flag("transposeX2"));
  const Shape shape = r.shape(sums);
  if (shape.size() != 3)
    refuse("x1 and x2 make {}; expected a batch of matrices", to_string(shape));
  Value y = r.cast(sums, DType::f32);
  if (const Value columns = optional_scale(r, "x2Scale"))
    y = r.op("Mul", {y, along(r, columns, shape, -1)});
  if (const Value rows = optional_scale(r, "x1Scale")) {
    if (element_count(r.shape(rows)) != shape[0] * shape[1]) {
      refuse("x1Scale is {}; expected a number for each row of {} matrices of {}",
             to_string(r.shape(rows)), shape[0], shape[1]);
    }
    y = r.op("Mul", {y, r.reshape(rows, {shape[0], shape[1], 1})});
  }
  const Ints dims = r.axes("dims", 3);
  r.out("out", r.op("ReduceSum", {y, r.constant(dims)}, {{"keepdims", r.flag("keepDims")}}));
}

const Row kRows[] = {
    {"aclnnQuantMatmul", first_version},
    {"aclnnQuantMatmulV2", second_version},
    {"aclnnQuantMatmulV3", third_version},
    {"aclnnQuantMatmulV4", third_version},
    {"aclnnQuantMatmulV5", fifth_version},
    {"aclnnQuantMatmulWeightNz", fifth_version},
    {"aclnnFusedQuantMatmul", activated_product},
    {"aclnnFusedQuantMatmulWeightNz", activated_product},
    {"aclnnQuantMatmulReduceSumWeightNz", summed_product},
    {"aclnnQuantBatchMatmulInplaceAdd", in_place_add},
    {"aclnnBatchMatmulQuant", batch_quant},
};

}  // namespace

std::span<const Row> quant_matmul_rows() { return kRows; }

}  // namespace anynpu::aclnn
