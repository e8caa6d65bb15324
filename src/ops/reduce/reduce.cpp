// SPDX-License-Identifier: Apache-2.0
// Reduce*: rows of (start, step over a block, finish) over the reduction engine. Reals are summed
// in double, integers exactly (they wrap).
#include "ops/reduce/reduce.h"

#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/reduce/walk.h"
#include "ops/registry.h"

namespace anynpu::ops {

namespace {

constexpr DTypeSet kBool{DType::boolean};

template <typename W>
struct Fold {
  W start;
  W (*step)(W sum, const W* block, int64_t count);
  W (*finish)(W sum, int64_t length);
};

template <auto f, typename W>
W fold(W sum, const W* block, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sum = f(sum, block[i]);
  return sum;
}

struct Row {
  std::string_view name;
  DTypeSet types;
  Fold<double> real;
  Fold<int64_t> whole;
};

// Integers wrap; unsigned ones keep their bits in int64_t, except that order needs the sign.
int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t magnitude(int64_t a) { return a < 0 ? wrap_mul(a, -1) : a; }

template <typename W>
W as_is(W sum, int64_t) {
  return sum;
}
double root(double sum, int64_t) { return std::sqrt(sum); }
int64_t whole_root(int64_t sum, int64_t) {
  return static_cast<int64_t>(std::sqrt(static_cast<double>(sum)));
}
double logarithm(double sum, int64_t) { return std::log(sum); }
int64_t whole_log(int64_t sum, int64_t) {
  return static_cast<int64_t>(std::log(static_cast<double>(sum)));
}
double average(double sum, int64_t length) { return sum / static_cast<double>(length); }
int64_t whole_average(int64_t sum, int64_t length) { return length == 0 ? 0 : sum / length; }

const std::vector<Row>& rows() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr int64_t low = std::numeric_limits<int64_t>::min(),
                    high = std::numeric_limits<int64_t>::max();
  constexpr auto add = fold<[](double s, double x) { return s + x; }, double>;
  constexpr auto add_i = fold<[](int64_t s, int64_t x) { return wrap_add(s, x); }, int64_t>;
  constexpr auto square = fold<[](double s, double x) { return s + x * x; }, double>;
  constexpr auto square_i =
      fold<[](int64_t s, int64_t x) { return wrap_add(s, wrap_mul(x, x)); }, int64_t>;
  static const std::vector<Row> list = {
      {"ReduceSum", kNumbers, {0, add, as_is}, {0, add_i, as_is}},
      {"ReduceMean", kNumbers, {0, add, average}, {0, add_i, whole_average}},
      {"ReduceLogSum", kNumbers, {0, add, logarithm}, {0, add_i, whole_log}},
      {"ReduceSumSquare", kNumbers, {0, square, as_is}, {0, square_i, as_is}},
      {"ReduceL2", kNumbers, {0, square, root}, {0, square_i, whole_root}},
      {"ReduceL1",
       kNumbers,
       {0, fold<[](double s, double x) { return s + std::fabs(x); }, double>, as_is},
       {0, fold<[](int64_t s, int64_t x) { return wrap_add(s, magnitude(x)); }, int64_t>, as_is}},
      {"ReduceProd",
       kNumbers,
       {1, fold<[](double s, double x) { return s * x; }, double>, as_is},
       {1, fold<[](int64_t s, int64_t x) { return wrap_mul(s, x); }, int64_t>, as_is}},
      {"ReduceMax",
       kNumbers | kBool,
       {-inf, fold<[](double s, double x) { return (x > s) || x != x ? x : s; }, double>, as_is},
       {low, fold<[](int64_t s, int64_t x) { return (x > s) ? x : s; }, int64_t>, as_is}},
      {"ReduceMin",
       kNumbers | kBool,
       {inf, fold<[](double s, double x) { return x < s || x != x ? x : s; }, double>, as_is},
       {high, fold<[](int64_t s, int64_t x) { return x < s ? x : s; }, int64_t>, as_is}},
  };
  return list;
}

const Row* find_row(std::string_view name) {
  for (const Row& row : rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

template <typename W>
PlanResult plan_fold(const OpContext& context, const Fold<W>& fold) {
  ANYNPU_ASSIGN(const ReduceAxes axes, reduce_axes(context));
  const ReduceWalk walk = reduce_walk(context.inputs[0].shape, axes.reduce);
  const LoadBlock<W> load = load_block<W>(context.inputs[0].dtype);
  const StoreBlock<W> store = store_block<W>(context.outputs[0].dtype);
  if (!load || !store) return no_kernel_for(context);
  // An empty group of bool or short integers: the identity of the type, not of int64_t.
  return make_plan([=](const RunArgs& args) {
    for_each_group(walk, load, args.inputs[0], [&](int64_t output, auto&& next) {
      W block[kBlockLength];
      W sum = fold.start;
      while (const int64_t count = next(block)) sum = fold.step(sum, block, count);
      sum = fold.finish(sum, walk.length);
      store(args.outputs[0], output, &sum, 1);
    });
  });
}

PlanResult plan_reduce(const OpContext& context) {
  const Row* row = find_row(context.schema->name);
  if (!row) return no_kernel_for(context);
  const bool real = wide_kind(context.inputs[0].dtype) == WideKind::real;
  return real ? plan_fold(context, row->real) : plan_fold(context, row->whole);
}

// log(sum(exp(x))) without overflow: the sum is kept relative to the largest seen so far.
PlanResult plan_log_sum_exp(const OpContext& context) {
  ANYNPU_ASSIGN(const ReduceAxes axes, reduce_axes(context));
  const ReduceWalk walk = reduce_walk(context.inputs[0].shape, axes.reduce);
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  return make_plan([=](const RunArgs& args) {
    for_each_group(walk, load, args.inputs[0], [&](int64_t output, auto&& next) {
      double block[kBlockLength];
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      while (const int64_t count = next(block)) {
        for (int64_t i = 0; i < count; ++i) {
          if (block[i] > top) {
            sum = sum * std::exp(top - block[i]) + 1;
            top = block[i];
          } else if (block[i] == top) {
            sum += 1;  // also for infinities, whose difference is no number
          } else {
            sum += std::exp(block[i] - top);
          }
        }
      }
      const double result = std::isinf(top) ? top : top + std::log(sum);
      store(args.outputs[0], output, &result, 1);
    });
  });
}

}  // namespace

Status reduce_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const ReduceAxes axes, reduce_axes(context));
  if (!axes.known) return {};
  Shape shape;
  const bool keep = context.int_attr("keepdims") != 0;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (!axes.reduce[i])
      shape.push_back(x.shape[i]);
    else if (keep)
      shape.push_back(1);
  }
  return set_output(context, 0, x.dtype, std::move(shape));
}

void register_reduce(Registry& registry) {
  std::vector<std::pair<std::string_view, DTypeSet>> names = {{"ReduceLogSumExp", kNumbers}};
  for (const Row& row : rows()) names.emplace_back(row.name, row.types);
  for (const auto& [name, types] : names) {
    OpSchema schema{.name = name,
                    .since = 1,
                    .inputs = {{"data", "T"}},
                    .outputs = {{"reduced", "T"}},
                    .types = {{"T", types}},
                    .attrs = {{"axes", AttrKind::ints}, {"keepdims", AttrKind::i, int64_t{1}}},
                    .shape = reduce_rule};
    registry.add(schema);
    schema.since = name == "ReduceSum" ? 13 : 18;
    schema.inputs.push_back({"axes", "I", Presence::optional});
    schema.types.push_back({"I", {DType::i64}});
    schema.attrs = {{"keepdims", AttrKind::i, int64_t{1}},
                    {"noop_with_empty_axes", AttrKind::i, int64_t{0}}};
    registry.add(schema);
    const bool exponential = name == "ReduceLogSumExp";
    registry.add(KernelDef{
        .op = name,
        .name = "reduce_reference",
        .types = types,
        .create = exponential ? create_late<plan_log_sum_exp, 2> : create_late<plan_reduce, 2>});
  }
  register_arg_reduce(registry);
  register_rows(registry);
}

}  // namespace anynpu::ops
