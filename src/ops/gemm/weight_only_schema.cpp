// SPDX-License-Identifier: Apache-2.0
// MatMulNBits and WeightOnlyMatMul: schemas, how their tensors lie, and the reference kernel.
#include <algorithm>
#include <limits>

#include "base/align.h"
#include "ops/elements/program.h"
#include "ops/elements/wide.h"
#include "ops/gemm/weight_only.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::gemm {

namespace {

constexpr int64_t kMostExtent = int64_t{1} << 28;
constexpr DTypeSet kTypes{DType::f32, DType::f16, DType::bf16};

// Unsigned codes that share bytes, and signed ones of ONNX's int4.
int unsigned_code(const std::byte* codes, int64_t at, int bits) {
  const auto byte = static_cast<int>(codes[at * bits / 8]);
  return byte >> at * bits % 8 & ((1 << bits) - 1);
}

bool is_n_bits(const OpContext& context) { return context.schema->name.ends_with("MatMulNBits"); }

// --- MatMulNBits: B [N, groups, bytes of a group], scales and zero points [N, groups]

Status check_elements(const OpContext& context, size_t input, int64_t expected) {
  if (!context.has_input(input) || !context.inputs[input].fully_known()) return {};
  const int64_t count = element_count(context.inputs[input].shape);
  if (count == expected) return {};
  return fail(Code::shape_mismatch, "{}: {} is {}, expected {} elements", context.label(),
              context.schema->inputs[input].name, to_string(context.inputs[input].shape), expected);
}

Result<WeightOnlyCase> n_bits_case(const OpContext& context) {
  WeightOnlyCase made;
  made.c_at = 5;
  WeightCodes& w = made.codes;
  w.k = context.int_attr("K"), w.n = context.int_attr("N");
  const int64_t bits = context.int_attr("bits"), group = context.int_attr("block_size");
  if (w.k < 1 || w.n < 1 || w.k > kMostExtent || w.n > kMostExtent) {
    return fail(Code::invalid_argument, "{}: K is {} and N is {}, expected 1 to {}",
                context.label(), w.k, w.n, kMostExtent);
  }
  if (bits != 2 && bits != 4 && bits != 8) {
    return fail(Code::unsupported_feature, "{}: bits is {}, expected 2, 4 or 8", context.label(),
                bits);
  }
  if (group < 16 || group > kMostExtent || (group & (group - 1)) != 0) {
    return fail(Code::invalid_argument, "{}: block_size is {}, expected a power of two from 16 on",
                context.label(), group);
  }
  if (context.has_input(4)) {
    return fail(
        Code::unsupported_feature,
        "{}: g_idx (groups in another order) is not supported; quantise the model without it",
        context.label());
  }
  w.bits = static_cast<int>(bits);
  w.group = group;
  w.by_columns = w.padded = true;
  w.codes_at = 1, w.scale_at = 2, w.zero_at = 3;
  w.scale_type = context.inputs[2].dtype;
  w.scale_of_column = w.groups(), w.scale_of_group = 1;
  int64_t zeros = w.n * w.groups();
  if (context.has_input(3)) {
    w.zero_type = context.inputs[3].dtype;
    if (w.zero_type == DType::u8) {
      w.zero_bits = w.bits;
      zeros = w.n * ceil_div(w.groups() * bits, int64_t{8});
    }
  }
  ANYNPU_TRY(check_elements(context, 1, w.n * w.groups() * (group * bits / 8)));
  ANYNPU_TRY(check_elements(context, 2, w.n * w.groups()));
  ANYNPU_TRY(check_elements(context, 3, zeros));
  return made;
}

// --- WeightOnlyMatMul: the tensors of DequantizeLinear

Result<WeightOnlyCase> linear_case(const OpContext& context) {
  WeightOnlyCase made;
  WeightCodes& w = made.codes;
  const Operand &codes = context.inputs[1], &scale = context.inputs[w.scale_at];
  const auto refuse = [&]() {
    return fail(Code::shape_mismatch,
                "{}: the codes are {}, the scale is {} at axis {} in blocks of {}; they do not fit",
                context.label(), to_string(codes.shape), to_string(scale.shape),
                context.int_attr("axis"), context.int_attr("block_size"));
  };
  if (codes.rank() != 2) return refuse();
  w.by_columns = context.int_attr("transB") != 0;
  w.k = codes.shape[w.by_columns ? 1 : 0], w.n = codes.shape[w.by_columns ? 0 : 1];
  w.bits = codes.dtype == DType::i4 ? 4 : 8;
  w.is_signed = codes.dtype != DType::u8;
  w.group = std::max<int64_t>(w.k, 1);
  w.scale_type = scale.dtype;
  const bool along_k = context.int_attr("axis") == (w.by_columns ? 1 : 0);
  if (scale.rank() == 2) {
    const int64_t block = context.int_attr("block_size");
    if (!along_k || block < 1) return refuse();
    w.group = std::min(block, w.group);
    const Shape expected = w.by_columns ? Shape{w.n, w.groups()} : Shape{w.groups(), w.n};
    if (scale.shape != expected) return refuse();
    w.scale_of_column = w.by_columns ? w.groups() : 1;
    w.scale_of_group = w.by_columns ? 1 : w.n;
  } else if (element_count(scale.shape) != 1) {
    if (along_k || scale.rank() != 1 || scale.shape[0] != w.n) return refuse();
    w.scale_of_column = 1;
  }
  if (context.has_input(w.zero_at)) {
    const Operand& zero = context.inputs[w.zero_at];
    w.zero_type = zero.dtype;
    if (zero.dtype != codes.dtype || element_count(zero.shape) != element_count(scale.shape))
      return refuse();
  }
  return made;
}

Status check_added(const OpContext& context, const WeightOnlyCase& made) {
  ANYNPU_TRY(check_elements(context, made.c_at, made.codes.n));
  if (is_n_bits(context) || !context.has_input(3) || !context.inputs[3].has_shape) return {};
  Shape y = context.inputs[0].shape;
  y.back() = made.codes.n;
  if (context.inputs[3].shape == y) return {};
  return fail(Code::shape_mismatch, "{}: Z is {}, expected {}", context.label(),
              to_string(context.inputs[3].shape), to_string(y));
}

Status weight_only_rule(OpContext& context) {
  Operand& y = context.outputs[0];
  y.dtype = context.inputs[0].dtype;
  const bool linear = !is_n_bits(context);
  if (linear && (!context.inputs[1].fully_known() || !context.inputs[4].fully_known())) return {};
  ANYNPU_ASSIGN(const WeightOnlyCase made, linear ? linear_case(context) : n_bits_case(context));
  const Operand& a = context.inputs[0];
  if (!a.has_shape) return {};
  const int64_t k = a.shape.empty() ? 0 : a.shape.back();
  if (a.shape.empty() || (k != made.codes.k && k != kDynamicDim)) {
    return fail(Code::shape_mismatch, "{}: A is {}, expected a last axis of {}", context.label(),
                to_string(a.shape), made.codes.k);
  }
  ANYNPU_TRY(check_added(context, made));
  Shape shape = a.shape;
  shape.back() = made.codes.n;
  return set_output(context, 0, y.dtype, std::move(shape));
}

}  // namespace

int WeightCodes::code(const std::byte* codes, int64_t row, int64_t column) const {
  int64_t at = by_columns ? column * k + row : row * n + column;
  if (padded) at = (column * groups() + row / group) * group + row % group;
  const int code = unsigned_code(codes, at, bits);
  return is_signed && code >> (bits - 1) ? code - (1 << bits) : code;
}

double WeightCodes::scale(const std::byte* scales, int64_t g, int64_t column) const {
  return load_one<double>(scale_type, scales, g * scale_of_group + column * scale_of_column);
}

double WeightCodes::zero(const std::byte* zeros, int64_t g, int64_t column) const {
  if (zero_type == DType::undefined) return padded ? 1 << (bits - 1) : 0;
  if (zero_bits > 0) {
    const int64_t row = ceil_div(groups() * zero_bits, int64_t{8});
    return unsigned_code(zeros + column * row, g, zero_bits);
  }
  return load_one<double>(zero_type, zeros, g * scale_of_group + column * scale_of_column);
}

Result<WeightOnlyCase> WeightOnlyCase::of(const OpContext& context) {
  ANYNPU_ASSIGN(WeightOnlyCase made,
                is_n_bits(context) ? n_bits_case(context) : linear_case(context));
  GemmShape& g = made.g;
  g.k = made.codes.k, g.n = made.codes.n, g.m = 1;
  const Shape& a = context.inputs[0].shape;
  for (size_t i = 0; i + 1 < a.size(); ++i) g.m *= a[i];
  g.batch_a = g.batch_b = {0};
  g.has_c = context.has_input(made.c_at);
  g.c_column = 1;
  if (is_n_bits(context)) return made;
  g.has_z = context.has_input(made.z_at);
  g.alpha = context.float_attr("alpha");
  ANYNPU_TRY(read_activation(context, g));
  return made;
}

PlanResult plan_weight_only_reference(const OpContext& context) {
  ANYNPU_ASSIGN(const WeightOnlyCase made, WeightOnlyCase::of(context));
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.inputs[0].dtype);
  return make_plan([=](const RunArgs& args) {
    const GemmShape& g = made.g;
    const WeightCodes& w = made.codes;
    const auto one = [&](size_t input, int64_t at) {
      double value = 0;
      load(args.inputs[input], at, 1, &value, 1);
      return value;
    };
    parallel(static_cast<size_t>(g.n), 16, [&](size_t begin, size_t end) {
      for (auto j = static_cast<int64_t>(begin); j < static_cast<int64_t>(end); ++j) {
        for (int64_t i = 0; i < g.m; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < g.k; ++k) {
            const double zero = w.zero(
                w.zero_type == DType::undefined ? nullptr : args.inputs[w.zero_at], k / w.group, j);
            const double code = w.code(args.inputs[w.codes_at], k, j);
            sum += one(0, i * g.k + k) * (code - zero) *
                   w.scale(args.inputs[w.scale_at], k / w.group, j);
          }
          sum *= static_cast<double>(g.alpha);
          if (g.has_c) sum += one(made.c_at, j);
          if (g.has_z) sum += one(made.z_at, i * g.n + j);
          const double y = activated(g, sum);
          store(args.outputs[0], i * g.n + j, &y, 1);
        }
      }
    });
  });
}

void add_weight_only_schemas(Registry& registry) {
  const Presence optional = Presence::optional;
  const OpTraits traits = OpTraits::matrix().with(CostClass::product);
  OpSchema n_bits{.name = "MatMulNBits",
                  .domain = "com.microsoft",
                  .since = 1,
                  .inputs = {{"A", "T"},
                             {"B", "B"},
                             {"scales", "T"},
                             {"zero_points", "Z", optional},
                             {"g_idx", "I", optional},
                             {"bias", "T", optional}},
                  .outputs = {{"Y", "T"}},
                  .types = {{"T", kTypes},
                            {"B", {DType::u8}},
                            {"Z", kTypes | DTypeSet{DType::u8}},
                            {"I", {DType::i32}}},
                  .attrs = {{"K", AttrKind::i, {}, true},
                            {"N", AttrKind::i, {}, true},
                            {"bits", AttrKind::i, int64_t{4}},
                            {"block_size", AttrKind::i, {}, true},
                            {"accuracy_level", AttrKind::i, int64_t{0}},
                            {"weight_prepacked", AttrKind::i, int64_t{0}}},
                  .traits = traits,
                  .shape = weight_only_rule};
  registry.add(n_bits);
  n_bits.name = "FusedMatMulNBits", n_bits.domain = "anynpu";
  for (const AttrSchema& attr : program_attributes()) n_bits.attrs.push_back(attr);
  registry.add(n_bits);
  OpSchema schema{.name = "WeightOnlyMatMul",
                  .domain = "anynpu",
                  .since = 1,
                  .inputs = {{"A", "T"},
                             {"B", "B"},
                             {"C", "T", optional},
                             {"Z", "T", optional},
                             {"scale", "T"},
                             {"zero_point", "B", optional}},
                  .outputs = {{"Y", "T"}},
                  .types = {{"T", kTypes}, {"B", {DType::i8, DType::u8, DType::i4}}},
                  .attrs = {{"transB", AttrKind::i, int64_t{0}},
                            {"axis", AttrKind::i, int64_t{1}},
                            {"block_size", AttrKind::i, int64_t{0}},
                            {"alpha", AttrKind::f, 1.0f},
                            {"activation", AttrKind::s, ""},
                            {"activation_min", AttrKind::f, std::numeric_limits<float>::lowest()},
                            {"activation_max", AttrKind::f, std::numeric_limits<float>::max()}},
                  .traits = traits,
                  .shape = weight_only_rule};
  for (const AttrSchema& attr : program_attributes()) schema.attrs.push_back(attr);
  registry.add(schema);
}

}  // namespace anynpu::ops::gemm
