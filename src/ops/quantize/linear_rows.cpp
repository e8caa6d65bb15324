// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between floats of 32 and 16 bits and
// whole numbers of 8 and 16, by rows (quantize/quant_rows.h). Short floats pass through a buffer of
// float32.
#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/quantize/linear.h"
#include "ops/quantize/quant_rows.h"
#include "ops/registry.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::quantize {

namespace {

constexpr DTypeSet kRowFloats{DType::f32, DType::f16, DType::bf16};
constexpr DTypeSet kRowWholes{DType::u8, DType::i8, DType::u16, DType::i16};
constexpr size_t kLeast = 16384;  // elements of a thread

// Floats of [at, at + count) of an input, in `buffer` where they are not float32.
const float* floats_at(DType type, const std::byte* base, int64_t at, int64_t count,
                       float* buffer) {
  if (type == DType::f32) return reinterpret_cast<const float*>(base) + at;
  widen(type, base + at * 2, buffer, static_cast<size_t>(count));
  return buffer;
}

// Scales and zero points of one row after the other, as floats.
struct Scales {
  ScaleWalk walk;
  Layout layout = Layout::plain;  // of input and output: one scale serves any
  DType scale_type = DType::f32, zero_type = DType::u8;
  bool has_zero = false;
  LoadBlock<double> load_zero = nullptr;

  // body(first element, QuantRow) over [begin, end), at most kBlockLength elements at a time;
  // scales, zeros, each and count of the row are set.
  template <typename Body>
  void for_each(const RunArgs& args, int64_t begin, int64_t end, const Body& body) const {
    float scales[kBlockLength] = {}, zeros[kBlockLength] = {};
    double wide[kBlockLength];
    QuantRow row;
    row.zeros = zeros;
    for (int64_t at = begin; at < end;) {
      const ScaleWalk::ScaleRow found = walk.row(at);
      row.each = found.each;
      const int64_t stop = std::min(end, found.end);
      for (bool first = true; at < stop; first = false, at += row.count) {
        row.count = std::min(kBlockLength, stop - at);
        if (first || row.each) {
          const int64_t place = row.each ? walk.place(at) : found.place;
          const int64_t count = row.each ? row.count : 1;
          row.scales = floats_at(scale_type, args.inputs[1], place, count, scales);
          if (has_zero) {
            load_zero(args.inputs[2], place, 1, wide, count);
            for (int64_t i = 0; i < count; ++i) zeros[i] = static_cast<float>(wide[i]);
          }
        }
        body(at, row);
      }
    }
  }
};

Result<Scales> scales_of(const OpContext& context) {
  Scales scales;
  ANYNPU_ASSIGN(scales.walk, scale_walk(context));
  if (scales.walk.per_tensor) {
    scales.layout = context.inputs[0].layout;
    scales.walk.count = stored_elements(context.inputs[0].shape, scales.layout);
  }
  scales.scale_type = context.inputs[1].dtype;
  scales.has_zero = context.has_input(2);
  if (scales.has_zero) scales.zero_type = context.inputs[2].dtype;
  scales.load_zero = load_block<double>(scales.zero_type);
  return scales;
}

// body(QuantRows<T>, T{}) of the type.
template <typename Body>
void with_rows(const QuantRowSet& set, DType type, const Body& body) {
  switch (type) {
    case DType::i8:
      return body(set.i8, int8_t{});
    case DType::u16:
      return body(set.u16, uint16_t{});
    case DType::i16:
      return body(set.i16, int16_t{});
    default:
      return body(set.u8, uint8_t{});
  }
}

template <Isa isa>
PlanResult plan_quantize_rows(const OpContext& context) {
  ANYNPU_ASSIGN(const Scales scales, scales_of(context));
  ANYNPU_ASSIGN(const DType precision, division_type(context));
  const DType from = context.inputs[0].dtype, to = context.outputs[0].dtype;
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(scales.walk.count), kLeast, [&](size_t begin, size_t end) {
      float buffer[kBlockLength], ones[kBlockLength];
      std::byte narrowed[kBlockLength * 2];
      std::fill(ones, ones + kBlockLength, 1.0f);
      const auto quantize = [&]<typename T>(const QuantRows<T>& rows, T) {
        scales.for_each(args, static_cast<int64_t>(begin), static_cast<int64_t>(end),
                        [&](int64_t at, QuantRow row) {
                          row.floats = floats_at(from, args.inputs[0], at, row.count, buffer);
                          if (precision != DType::f32) {  // the quotient is rounded to it
                            for (int64_t i = 0; i < row.count; ++i) {
                              buffer[i] /= row.scales[row.each ? i : 0];
                            }
                            narrow(precision, buffer, narrowed, static_cast<size_t>(row.count));
                            widen(precision, narrowed, buffer, static_cast<size_t>(row.count));
                            row.scales = ones;
                          }
                          rows.quantize(row, output_of<T>(args, 0) + at);
                        });
      };
      with_rows(quant_row_set(isa), to, quantize);
    });
  });
  plan->input_layouts = {scales.layout, Layout::plain, Layout::plain};
  plan->output_layouts = {scales.layout};
  return plan;
}

template <Isa isa>
PlanResult plan_dequantize_rows(const OpContext& context) {
  ANYNPU_ASSIGN(const Scales scales, scales_of(context));
  const DType from = context.inputs[0].dtype, to = context.outputs[0].dtype;
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(scales.walk.count), kLeast, [&](size_t begin, size_t end) {
      float buffer[kBlockLength];
      const auto dequantize = [&]<typename T>(const QuantRows<T>& rows, T) {
        scales.for_each(args, static_cast<int64_t>(begin), static_cast<int64_t>(end),
                        [&](int64_t at, QuantRow row) {
                          row.result = to == DType::f32 ? output_of<float>(args, 0) + at : buffer;
                          rows.dequantize(row, input_of<T>(args, 0) + at);
                          if (to == DType::f32) return;
                          narrow(to, buffer, args.outputs[0] + at * 2,
                                 static_cast<size_t>(row.count));
                        });
      };
      with_rows(quant_row_set(isa), from, dequantize);
    });
  });
  plan->input_layouts = {scales.layout, Layout::plain, Layout::plain};
  plan->output_layouts = {scales.layout};
  return plan;
}

template <Isa isa>
PlanResult plan_dynamic_rows(const OpContext& context) {
  const int64_t count = element_count(context.inputs[0].shape);
  const auto threads = static_cast<int64_t>(context.target.threads);
  const int64_t piece =
      std::max<int64_t>(kLeast, (count + threads - 1) / std::max<int64_t>(1, threads));
  const auto pieces = static_cast<size_t>(ceil_div(count, piece));
  auto plan = make_plan([=](const RunArgs& args) {
    const float* x = input_of<float>(args, 0);
    const QuantRowSet& rows = quant_row_set(isa);
    auto* ends = reinterpret_cast<float(*)[2]>(args.workspace);
    const auto each_piece = [&](const auto& body) {
      parallel_tasks(pieces, [&](size_t task) {
        const int64_t at = static_cast<int64_t>(task) * piece;
        body(task, at, std::min(piece, count - at));
      });
    };
    each_piece([&](size_t task, int64_t at, int64_t length) {
      ends[task][0] = ends[task][1] = 0;
      rows.widen_range(x + at, length, &ends[task][0], &ends[task][1]);
    });
    float low = 0, high = 0;
    for (size_t i = 0; i < pieces; ++i) {
      low = std::min(low, ends[i][0]), high = std::max(high, ends[i][1]);
    }
    const DynamicScale found = dynamic_scale(low, high);
    each_piece([&](size_t, int64_t at, int64_t length) {
      uint8_t* y = output_of<uint8_t>(args, 0) + at;
      if (found.scale == 0) {
        std::memset(y, 0, static_cast<size_t>(length));
        return;
      }
      rows.u8.quantize(
          {.floats = x + at, .scales = &found.scale, .zeros = &found.zero, .count = length}, y);
    });
    if (args.outputs.size() > 1 && args.outputs[1]) *output_of<float>(args, 1) = found.scale;
    if (args.outputs.size() > 2 && args.outputs[2])
      *output_of<uint8_t>(args, 2) = static_cast<uint8_t>(found.zero);
  });
  plan->workspace_bytes = pieces * 2 * sizeof(float);
  return plan;
}

Status check_types(DType floats, DType wholes, DType scale) {
  if (kRowFloats.has(floats) && kRowWholes.has(wholes) && kRowFloats.has(scale)) return {};
  return fail(Code::unsupported_dtype, "{} and {} with scales of {}, expected one of {} and of {}",
              name_of(floats), name_of(wholes), name_of(scale), kRowFloats.to_string(),
              kRowWholes.to_string());
}

template <Isa isa>
Status can_run_quantize(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  const DType x = context.inputs[0].dtype, scale = context.inputs[1].dtype;
  ANYNPU_TRY(check_types(x, context.outputs[0].dtype, scale));
  ANYNPU_ASSIGN(const DType precision, division_type(context));
  if (precision == DType::f32 || (precision == x && precision == scale)) return {};
  return fail(Code::unsupported_dtype, "a division of {} by {} in {}", name_of(x), name_of(scale),
              name_of(precision));
}

template <Isa isa>
Status can_run_dequantize(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  return check_types(context.outputs[0].dtype, context.inputs[0].dtype, context.inputs[1].dtype);
}

template <Isa isa>
Status can_run_dynamic(const OpContext&) {
  return check_isa(isa);
}

template <Isa isa>
KernelLine row_kernel(std::string_view op, std::string_view name) {
  if (op == "QuantizeLinear")
    return {name, kRowFloats, can_run_quantize<isa>, create_plain<plan_quantize_rows<isa>>};
  if (op == "DequantizeLinear")
    return {name, kRowWholes, can_run_dequantize<isa>, create_plain<plan_dequantize_rows<isa>>};
  return {name, {DType::f32}, can_run_dynamic<isa>, create_plain<plan_dynamic_rows<isa>>};
}

}  // namespace

std::vector<KernelLine> row_kernels(std::string_view op) {
  return {row_kernel<Isa::avx512>(op, "rows_avx512"), row_kernel<Isa::avx2>(op, "rows_avx2"),
          row_kernel<Isa::baseline>(op, "rows_baseline")};
}

}  // namespace anynpu::ops::quantize
