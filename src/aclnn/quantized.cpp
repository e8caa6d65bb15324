// SPDX-License-Identifier: Apache-2.0
#include "aclnn/quantized.h"

namespace anynpu::aclnn {

Value scale_of(Recipe& r, Value scale) {
  const DType type = r.dtype(scale);
  if (type == DType::u64 || type == DType::i64) {
    const Shape shape = r.shape(scale);
    const int64_t count = element_count(shape);
    const Value halves = r.reinterpret(r.reshape(scale, {count, 1}), DType::f32);
    return r.reshape(r.slice(halves, 1, 0, 1), shape);
  }
  return r.cast(scale, DType::f32);
}

Value scale_of(Recipe& r, Param param) { return scale_of(r, r.in(param)); }

Value unpacked(Recipe& r, Value x) {
  return r.dtype(x) == DType::i32 ? r.reinterpret(x, DType::i4) : x;
}

double largest_of(DType type) {
  switch (type) {
    case DType::i4:
      return 7;
    case DType::i8:
      return 127;
    case DType::u8:
      return 255;
    case DType::i16:
      return 32767;
    case DType::f8e4m3:
      return 448;
    case DType::f8e5m2:
      return 57344;
    case DType::hif8:
      return 32768;
    case DType::f4e2m1:
      return 6;
    default:
      refuse("results have type {}; expected integers of 4, 8 or 16 bits or floats of 4 or 8",
             name_of(type));
  }
}

Value rounded_to(Recipe& r, Value x, DType type) {
  const double most = largest_of(type);
  const DType from = r.dtype(x);
  const bool integers =
      type == DType::i4 || type == DType::i8 || type == DType::u8 || type == DType::i16;
  const double least = type == DType::u8 ? 0 : integers ? -most - 1 : -most;
  if (integers) x = r.op("Round", {x});
  return r.cast(r.op("Clip", {x, r.constant(from, least), r.constant(from, most)}), type);
}

void out_rounded(Recipe& r, Param param, Value x) {
  const DType type = r.dtype(param);
  if (type != DType::i32) return r.out(param, rounded_to(r, x, type));
  const Value packed = r.reinterpret(rounded_to(r, x, DType::i4), DType::i32);
  r.out(param, r.reshape(packed, r.shape(param)));
}

RowQuantised quantise_rows(Recipe& r, Value x, DType type) {
  const auto last = static_cast<int64_t>(r.shape(x).size()) - 1;
  const Value most = r.op("ReduceMax", {r.op("Abs", {x}), r.constant({last})}, {{"keepdims", 1}});
  const Value scale = r.op("Mul", {most, r.constant(DType::f32, 1 / largest_of(type))});
  const Value zero = r.op("Equal", {scale, r.constant(DType::f32, 0)});
  const Value safe = r.op("Where", {zero, r.constant(DType::f32, 1), scale});
  return {rounded_to(r, r.op("Div", {x, safe}), type), scale};
}

Value along(Recipe& r, Value list, const Shape& shape, int64_t axis) {
  const int64_t count = element_count(r.shape(list));
  Shape wide(shape.size(), 1);
  if (count == 1) return r.reshape(list, wide);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  if (place >= shape.size() || shape[place] != count) {
    refuse("{} scales or offsets for a tensor of {}; expected one, or as many as axis {} has",
           count, to_string(shape), axis);
  }
  wide[place] = count;
  return r.reshape(list, wide);
}

}  // namespace anynpu::aclnn
