// SPDX-License-Identifier: Apache-2.0
// Token routing of a mixture of experts (domain "anynpu").
//   ExpertSort   stable sort of tokens (one entry per token and chosen expert) by their expert.
//                Outputs: the token in each row, the row of each token (-1: dropped), and the
//                number of tokens per expert
//   InvertIndex  y[x[p]] = p; -1 where there is none
//   GatherRows   y[i] = x[index[i] / divisor] * scale[index[i]]; 0 if the index is out of range
//   SumRows      y[i] = sum over j of scale[i, j] * (x[index[i, j]] + bias[expert[i, j]]); skips
//                indices out of range
#include <algorithm>
#include <cstring>

#include "ops/elements/wide.h"
#include "ops/index/index.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"

namespace anynpu::ops::index {

namespace {

constexpr DTypeSet kRowTypes = kAnyFixed;

// --- ExpertSort

// Routes to experts [begin, end), to all if end is 0. With a capacity each expert has that many
// rows, and tokens beyond it are dropped.
struct ExpertSort {
  int64_t positions = 0, begin = 0, end = 0, capacity = 0, rows = 0;
  int64_t experts() const { return end - begin; }
};

Result<ExpertSort> expert_sort_of(const OpContext& context) {
  ExpertSort s;
  s.positions = element_count(context.inputs[0].shape);
  s.begin = context.int_attr("begin"), s.end = context.int_attr("end");
  s.capacity = context.int_attr("capacity");
  if (s.end == 0) s.end = s.begin;
  if (s.begin < 0 || s.end < s.begin || s.end > 1 << 20 || s.capacity < 0) {
    return fail(Code::invalid_argument,
                "{}: experts {} to {} with a capacity of {}; expected up to {} "
                "experts",
                context.label(), s.begin, s.end, s.capacity, 1 << 20);
  }
  s.rows = s.capacity > 0 ? s.experts() * s.capacity : s.positions;
  return s;
}

Status expert_sort_rule(OpContext& context) {
  if (!context.inputs[0].fully_known()) return {};
  ANYNPU_ASSIGN(const ExpertSort s, expert_sort_of(context));
  const int64_t counts[] = {s.rows, s.positions, s.experts()};
  for (size_t i = 0; i < context.outputs.size(); ++i)
    ANYNPU_TRY(set_output(context, i, DType::i64, {counts[i]}));
  return {};
}

// All experts: a comparison sort.
void sort_any(const ExpertSort& s, const RunArgs& args) {
  const auto* x = input_of<int64_t>(args, 0);
  int64_t *held = output_of<int64_t>(args, 0), *place = output_of<int64_t>(args, 1);
  for (int64_t p = 0; p < s.positions; ++p) held[p] = p;
  std::sort(held, held + s.positions,
            [&](int64_t a, int64_t b) { return x[a] != x[b] ? x[a] < x[b] : a < b; });
  for (int64_t row = 0; row < s.positions; ++row) place[held[row]] = row;
}

PlanResult plan_expert_sort(const OpContext& context) {
  ANYNPU_ASSIGN(const ExpertSort s, expert_sort_of(context));
  if (s.experts() == 0 && s.capacity == 0)
    return make_plan([=](const RunArgs& args) { sort_any(s, args); });
  auto plan = make_plan([=](const RunArgs& args) {
    const auto* x = input_of<int64_t>(args, 0);
    int64_t *held = output_of<int64_t>(args, 0), *place = output_of<int64_t>(args, 1),
            *counts = output_of<int64_t>(args, 2);
    auto* next = reinterpret_cast<int64_t*>(args.workspace);
    std::fill_n(counts, s.experts(), int64_t{0});
    const auto expert = [&](int64_t p) {
      return x[p] < s.begin || x[p] >= s.end ? -1 : x[p] - s.begin;
    };
    for (int64_t p = 0; p < s.positions; ++p) {
      if (const int64_t e = expert(p); e >= 0) ++counts[e];
    }
    int64_t first = 0;
    for (int64_t e = 0; e < s.experts(); ++e) {
      next[e] = s.capacity > 0 ? e * s.capacity : first;
      first += counts[e];
    }
    std::fill_n(held, s.rows, int64_t{-1});
    for (int64_t p = 0; p < s.positions; ++p) {
      const int64_t e = expert(p);
      const bool full = e < 0 || (s.capacity > 0 && next[e] >= (e + 1) * s.capacity);
      place[p] = full ? -1 : next[e]++;
      if (!full) held[place[p]] = p;
    }
  });
  plan->workspace_bytes = static_cast<size_t>(s.experts()) * sizeof(int64_t);
  return plan;
}

// --- InvertIndex

Status invert_rule(OpContext& context) {
  return set_output(context, 0, DType::i64, {context.int_attr("count")});
}

PlanResult plan_invert(const OpContext& context) {
  const int64_t positions = element_count(context.inputs[0].shape);
  const int64_t count = context.int_attr("count");
  return make_plan([=](const RunArgs& args) {
    const auto* x = input_of<int64_t>(args, 0);
    auto* y = output_of<int64_t>(args, 0);
    std::fill_n(y, count, int64_t{-1});
    for (int64_t p = 0; p < positions; ++p) {
      if (x[p] >= 0 && x[p] < count) y[x[p]] = p;
    }
  });
}

// --- GatherRows

Status check_rows(const OpContext& context) {
  const Operand& x = context.inputs[0];
  if (x.rank() == 2) return {};
  return fail(Code::shape_mismatch, "{}: X is {}; expected rows, two axes", context.label(),
              to_string(x.shape));
}

Status gather_rows_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &at = context.inputs[1];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape || !at.has_shape) return {};
  ANYNPU_TRY(check_rows(context));
  if (context.int_attr("divisor") < 1) {
    return fail(Code::invalid_argument, "{}: the divisor is {}; expected at least 1",
                context.label(), context.int_attr("divisor"));
  }
  return set_output(context, 0, x.dtype, {element_count(at.shape), x.shape[1]});
}

PlanResult plan_gather_rows(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const DType type = context.inputs[0].dtype;
  const int64_t rows = x[0], width = x[1], divisor = context.int_attr("divisor");
  const int64_t count = element_count(context.inputs[1].shape);
  const bool scaled = context.has_input(2);
  const int64_t scales = scaled ? element_count(context.inputs[2].shape) : 0;
  const auto load = load_block<double>(type);
  const auto store = store_block<double>(type);
  if (scaled && (!load || !store)) return no_kernel_for(context);
  const size_t bytes = static_cast<size_t>(width) * size_of(type);
  return make_plan([=](const RunArgs& args) {
    const auto* at = input_of<int64_t>(args, 1);
    const size_t least = 65536 / (bytes + 1) + 1;
    parallel(static_cast<size_t>(count), least, [&](size_t begin, size_t end) {
      double block[kBlockLength];
      for (size_t i = begin; i < end; ++i) {
        std::byte* to = args.outputs[0] + i * bytes;
        const int64_t row = at[i] < 0 ? -1 : at[i] / divisor;
        if (row < 0 || row >= rows || (scaled && at[i] >= scales)) {
          std::memset(to, 0, bytes);
          continue;
        }
        const std::byte* from = args.inputs[0] + static_cast<size_t>(row) * bytes;
        if (!scaled) {
          std::memcpy(to, from, bytes);
          continue;
        }
        const auto factor = static_cast<double>(input_of<float>(args, 2)[at[i]]);
        for (int64_t d = 0; d < width; d += kBlockLength) {
          const int64_t n = std::min(kBlockLength, width - d);
          load(from, d, 1, block, n);
          for (int64_t j = 0; j < n; ++j) block[j] *= factor;
          store(to, d, block, n);
        }
      }
    });
  });
}

// --- SumRows

struct SumRows {
  int64_t rows = 0, width = 0, tokens = 0, terms = 0, experts = 0;
  bool by_columns = false;  // index of row i and term j: j * tokens + i
  bool scaled = false, biased = false;
  int64_t index(int64_t i, int64_t j) const { return by_columns ? j * tokens + i : i * terms + j; }
};

Result<SumRows> sum_rows_of(const OpContext& context) {
  SumRows s;
  const int64_t count = element_count(context.inputs[1].shape);
  s.rows = context.inputs[0].shape[0], s.width = context.inputs[0].shape[1];
  s.terms = context.int_attr("terms"), s.by_columns = context.int_attr("by_columns") != 0;
  s.scaled = context.has_input(2), s.biased = context.has_input(3);
  if (s.terms < 1 || count % s.terms != 0) {
    return fail(Code::invalid_argument, "{}: {} indices for sums of {} rows; expected a multiple",
                context.label(), count, s.terms);
  }
  s.tokens = count / s.terms;
  const auto of_index = [&](size_t input) {
    return !context.has_input(input) || element_count(context.inputs[input].shape) == count;
  };
  const Shape& bias = context.inputs[3].shape;
  if (!of_index(2) || !of_index(4) || (s.biased && !context.has_input(4)) ||
      (s.biased && (bias.size() != 2 || bias[1] != s.width))) {
    return fail(Code::shape_mismatch,
                "{}: {} indices with {} scales, {} experts and a bias of {}; "
                "expected as many, and rows of {}",
                context.label(), count, element_count(context.inputs[2].shape),
                element_count(context.inputs[4].shape), to_string(bias), s.width);
  }
  s.experts = s.biased ? bias[0] : 0;
  return s;
}

Status sum_rows_rule(OpContext& context) {
  context.outputs[0].dtype = DType::f32;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  ANYNPU_TRY(check_rows(context));
  ANYNPU_ASSIGN(const SumRows s, sum_rows_of(context));
  return set_output(context, 0, DType::f32, {s.tokens, s.width});
}

PlanResult plan_sum_rows(const OpContext& context) {
  ANYNPU_ASSIGN(const SumRows s, sum_rows_of(context));
  const auto load = load_block<double>(context.inputs[0].dtype);
  return make_plan([=](const RunArgs& args) {
    const auto* at = input_of<int64_t>(args, 1);
    const auto least = static_cast<size_t>(16384 / (s.width * s.terms + 1) + 1);
    parallel(static_cast<size_t>(s.tokens), least, [&](size_t begin, size_t end) {
      double block[kBlockLength], sum[kBlockLength];
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        for (int64_t d = 0; d < s.width; d += kBlockLength) {
          const int64_t n = std::min(kBlockLength, s.width - d);
          std::fill_n(sum, n, 0.0);
          for (int64_t j = 0; j < s.terms; ++j) {
            const int64_t row = at[s.index(i, j)], term = i * s.terms + j;
            if (row < 0 || row >= s.rows) continue;
            load(args.inputs[0], row * s.width + d, 1, block, n);
            const int64_t expert = s.biased ? input_of<int64_t>(args, 4)[term] : -1;
            if (expert >= 0 && expert < s.experts) {
              const float* bias = input_of<float>(args, 3) + expert * s.width + d;
              for (int64_t c = 0; c < n; ++c) block[c] += static_cast<double>(bias[c]);
            }
            const double factor =
                s.scaled ? static_cast<double>(input_of<float>(args, 2)[term]) : 1;
            for (int64_t c = 0; c < n; ++c) sum[c] += factor * block[c];
          }
          float* y = output_of<float>(args, 0) + i * s.width + d;
          for (int64_t c = 0; c < n; ++c) y[c] = static_cast<float>(sum[c]);
        }
      }
    });
  });
}

template <PlanFunction plan>
void add(Registry& registry, OpSchema schema, DTypeSet types) {
  schema.domain = "anynpu";
  schema.traits = OpTraits::general();
  const std::string_view name = schema.name;
  registry.add(std::move(schema));
  registry.add(KernelDef{.op = name,
                         .name = "reference",
                         .domain = "anynpu",
                         .types = types,
                         .create = create_plain<plan>});
}

}  // namespace

void register_route(Registry& registry) {
  const Presence optional = Presence::optional;
  const FormalOperand index{"index", "I"};
  const TypeVar integers{"I", {DType::i64}}, floats{"F", {DType::f32}};
  add<plan_expert_sort>(registry,
                        {.name = "ExpertSort",
                         .inputs = {{"experts", "I"}},
                         .outputs = {{"held", "I"}, {"place", "I"}, {"counts", "I"}},
                         .types = {integers},
                         .attrs = {{"begin", AttrKind::i, int64_t{0}},
                                   {"end", AttrKind::i, int64_t{0}},
                                   {"capacity", AttrKind::i, int64_t{0}}},
                         .shape = expert_sort_rule},
                        {DType::i64});
  add<plan_invert>(registry,
                   {.name = "InvertIndex",
                    .inputs = {index},
                    .outputs = {{"Y", "I"}},
                    .types = {integers},
                    .attrs = {{"count", AttrKind::i, {}, true}},
                    .shape = invert_rule},
                   {DType::i64});
  add<plan_gather_rows>(registry,
                        {.name = "GatherRows",
                         .inputs = {{"X", "T"}, index, {"scale", "F", optional}},
                         .outputs = {{"Y", "T"}},
                         .types = {{"T", kRowTypes}, integers, floats},
                         .attrs = {{"divisor", AttrKind::i, int64_t{1}}},
                         .shape = gather_rows_rule},
                        kRowTypes);
  add<plan_sum_rows>(
      registry,
      {.name = "SumRows",
       .inputs = {{"X", "T"},
                  index,
                  {"scale", "F", optional},
                  {"bias", "F", optional},
                  {"experts", "I", optional}},
       .outputs = {{"Y", "F"}},
       .types = {{"T", kFloats}, integers, floats},
       .attrs = {{"terms", AttrKind::i, int64_t{1}}, {"by_columns", AttrKind::i, int64_t{0}}},
       .shape = sum_rows_rule},
      kFloats);
}

}  // namespace anynpu::ops::index
