// SPDX-License-Identifier: Apache-2.0
// Reduce*: a start, a step over a block and a finish for each, over the reduction engine. Reals are
// summed in double, integers exactly (they wrap).
#include "ops/reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/elements/order.h"
#include "ops/families.h"
#include "ops/reduce/float_runs.h"
#include "ops/reduce/walk.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops::reduce {

namespace {

constexpr DTypeSet kBool{DType::boolean};

// Sums that do not wait for one another, so that a block is folded by vector instructions: its
// element i goes into sum i % kSums, and in the end the sums are joined in order.
constexpr int64_t kSums = 8;
// Few groups are cut into parts of at least this length, for all threads. Whether and where depends
// on the shape alone: the order of additions is the same for any number of threads.
constexpr int64_t kPart = 32 << 10;
constexpr int64_t kFewGroups = 16;

template <typename W>
struct Fold {
  W start;
  void (*step)(W* sums, const W* block, int64_t count);
  void (*each)(W* sums, const W* block, int64_t count);  // element i into sum i
  W (*join)(W a, W b);
  W (*finish)(W sum, int64_t length);
};

template <auto f, typename W>
void fold(W* sums, const W* block, int64_t count) {
  W own[kSums];
  std::copy_n(sums, kSums, own);
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t k = 0; k < kSums; ++k) own[k] = f(own[k], block[i + k]);
  }
  for (int64_t k = 0; i < count; ++i, ++k) own[k] = f(own[k], block[i]);
  std::copy_n(own, kSums, sums);
}

template <auto f, typename W>
void fold_each(W* sums, const W* block, int64_t count) {
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    W own[kSums];  // read before anything is written: the arrays might overlap, for the compiler
    for (int64_t k = 0; k < kSums; ++k) own[k] = f(sums[i + k], block[i + k]);
    std::copy_n(own, kSums, sums + i);
  }
  for (; i < count; ++i) sums[i] = f(sums[i], block[i]);
}

// Integers wrap. Unsigned 64-bit ones need their own order and division.
template <typename W>
W added(W a, W b) {
  if constexpr (std::is_same_v<W, double>) return a + b;
  return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename W>
W multiplied(W a, W b) {
  if constexpr (std::is_same_v<W, double>) return a * b;
  return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename W>
W with_square(W sum, W x) {
  return added(sum, multiplied(x, x));
}
template <typename W>
W with_size(W sum, W x) {
  if constexpr (std::is_same_v<W, double>) return sum + std::fabs(x);
  return added(sum, x < W(0) ? multiplied(x, static_cast<W>(-1)) : x);
}

template <typename W>
W as_is(W sum, int64_t) {
  return sum;
}
template <typename W>
W root(W sum, int64_t) {
  return static_cast<W>(std::sqrt(static_cast<double>(sum)));
}
template <typename W>
W logarithm(W sum, int64_t) {
  return static_cast<W>(std::log(static_cast<double>(sum)));
}
template <typename W>
W average(W sum, int64_t length) {
  if constexpr (!std::is_same_v<W, double>) {
    if (length == 0) return 0;
  }
  return sum / static_cast<W>(length);
}

enum class Kind : uint8_t { sum, mean, log_sum, sum_square, l2, l1, product, max, min };

struct ReduceRow {
  std::string_view name;
  Kind kind;
  DTypeSet types = kNumbers;
};

constexpr ReduceRow kRows[] = {
    {"ReduceSum", Kind::sum},
    {"ReduceMean", Kind::mean},
    {"ReduceLogSum", Kind::log_sum},
    {"ReduceSumSquare", Kind::sum_square},
    {"ReduceL2", Kind::l2},
    {"ReduceL1", Kind::l1},
    {"ReduceProd", Kind::product},
    {"ReduceMax", Kind::max, kNumbers | kBool},
    {"ReduceMin", Kind::min, kNumbers | kBool},
};

// The ends of a type: what the largest (the least) of nothing is.
template <typename W>
W end_of(DType type, bool most) {
  if constexpr (std::is_same_v<W, double>) {
    return most ? std::numeric_limits<double>::infinity()
                : -std::numeric_limits<double>::infinity();
  }
  W end = most;  // bool
  visit_numbers(type, [&](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    if constexpr (Limits::is_integer) end = static_cast<W>(most ? Limits::max() : Limits::min());
  });
  return end;
}

template <typename W, auto step, auto join>
Fold<W> folding(W start, W (*finish)(W sum, int64_t length)) {
  return {start, fold<step, W>, fold_each<step, W>, join, finish};
}

template <typename W>
Fold<W> fold_of(Kind kind, DType type) {
  switch (kind) {
    case Kind::sum:
      return folding<W, added<W>, added<W>>(0, as_is);
    case Kind::mean:
      return folding<W, added<W>, added<W>>(0, average);
    case Kind::log_sum:
      return folding<W, added<W>, added<W>>(0, logarithm);
    case Kind::sum_square:
      return folding<W, with_square<W>, added<W>>(0, as_is);
    case Kind::l2:
      return folding<W, with_square<W>, added<W>>(0, root);
    case Kind::l1:
      return folding<W, with_size<W>, added<W>>(0, as_is);
    case Kind::product:
      return folding<W, multiplied<W>, multiplied<W>>(1, as_is);
    case Kind::max:
      return folding<W, larger<W>, larger<W>>(end_of<W>(type, false), as_is);
    case Kind::min:
      return folding<W, smaller<W>, smaller<W>>(end_of<W>(type, true), as_is);
  }
  return {};
}

const ReduceRow* find_row(std::string_view name) {
  for (const ReduceRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// For elements that are floats side by side; null where there is nothing better than blocks.
FloatRun float_run(Kind kind) {
  switch (kind) {
    case Kind::sum:
    case Kind::mean:
    case Kind::log_sum:
      return sum_of_run;
    case Kind::sum_square:
    case Kind::l2:
      return squares_of_run;
    case Kind::l1:
      return sizes_of_run;
    case Kind::max:
      return largest_of_run;
    case Kind::min:
      return least_of_run;
    case Kind::product:
      return nullptr;
  }
  return nullptr;
}

// The fold of elements [at, last) of a group, by runs.
double fold_runs(const ReduceWalk& walk, const Fold<double>& fold, FloatRun run, const float* group,
                 int64_t at, int64_t last) {
  double sum = fold.start;
  while (at < last) {
    int64_t offset = 0, step = 0, count = 0;
    walk.run(at, offset, step, count);
    count = std::min(count, last - at);
    sum = fold.join(sum, run(group + offset, count));
    at += count;
  }
  return sum;
}

// The same by blocks of a wide type.
template <typename W, typename Next>
W fold_blocks(const Fold<W>& fold, int64_t length, Next&& next) {
  W block[kBlockLength], sums[kSums];
  std::fill_n(sums, kSums, fold.start);
  while (const int64_t count = next(block)) fold.step(sums, block, count);
  W sum = sums[0];
  for (int64_t k = 1; k < std::min(kSums, length); ++k) sum = fold.join(sum, sums[k]);
  return sum;
}

template <typename W>
PlanResult plan_fold(const OpContext& context, Kind kind) {
  ANYNPU_ASSIGN(const ReduceAxes axes, reduce_axes(context));
  const DType type = context.inputs[0].dtype;
  const ReduceWalk walk = reduce_walk(context.inputs[0].shape, axes.reduce);
  const LoadBlock<W> load = load_block<W>(type);
  const StoreBlock<W> store = store_block<W>(context.outputs[0].dtype);
  if (!load || !store) return no_kernel_for(context);
  const Fold<W> fold = fold_of<W>(kind, type);
  const int64_t pieces = walk.outputs < kFewGroups ? std::max<int64_t>(1, walk.length / kPart) : 1;
  if (pieces == 1 && has_tiles(walk)) {
    return make_plan([=](const RunArgs& args) {
      for_each_tile(walk, load, args.inputs[0], [&](int64_t first, int64_t count, auto&& next) {
        W block[kBlockLength], sums[kBlockLength];
        std::fill_n(sums, count, fold.start);
        while (next(block)) fold.each(sums, block, count);
        for (int64_t i = 0; i < count; ++i) sums[i] = fold.finish(sums[i], walk.length);
        store(args.outputs[0], first, sums, count);
      });
    });
  }
  FloatRun run = nullptr;
  if (type == DType::f32 && walk.reduced_stride.back() == 1) run = float_run(kind);
  if constexpr (std::is_same_v<W, double>) {
    if (run && pieces == 1 && walk.reduced.size() == 1 && walk.length > 0) {  // rows, one by one
      return make_plan([=](const RunArgs& args) {
        const auto least = static_cast<size_t>(1 + 4096 / walk.length);
        parallel(static_cast<size_t>(walk.outputs), least, [&](size_t begin, size_t end) {
          const float* x = input_of<float>(args, 0);
          for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
            double sum = fold.join(fold.start, run(x + i * walk.length, walk.length));
            sum = fold.finish(sum, walk.length);
            store(args.outputs[0], i, &sum, 1);
          }
        });
      });
    }
  }
  auto plan = make_plan([=](const RunArgs& args) {
    auto* parts = reinterpret_cast<W*>(args.workspace);
    for_each_part(walk, pieces, load, args.inputs[0], [&](int64_t part, auto&& next) {
      W sum;
      if constexpr (std::is_same_v<W, double>) {
        sum = run ? fold_runs(walk, fold, run, input_of<float>(args, 0) + walk.base(part / pieces),
                              walk.length * (part % pieces) / pieces,
                              walk.length * (part % pieces + 1) / pieces)
                  : fold_blocks(fold, walk.length, next);
      } else {
        sum = fold_blocks(fold, walk.length, next);
      }
      if (pieces > 1) {
        parts[part] = sum;
        return;
      }
      sum = fold.finish(sum, walk.length);
      store(args.outputs[0], part, &sum, 1);
    });
    for (int64_t output = 0; pieces > 1 && output < walk.outputs; ++output) {
      W sum = parts[output * pieces];
      for (int64_t k = 1; k < pieces; ++k) sum = fold.join(sum, parts[output * pieces + k]);
      sum = fold.finish(sum, walk.length);
      store(args.outputs[0], output, &sum, 1);
    }
  });
  if (pieces > 1) plan->workspace_bytes = static_cast<size_t>(walk.outputs * pieces) * sizeof(W);
  return plan;
}

PlanResult plan_reduce(const OpContext& context) {
  const ReduceRow* row = find_row(context.schema->name);
  if (!row) return no_kernel_for(context);
  switch (wide_kind(context.inputs[0].dtype)) {
    case WideKind::float64:
      return plan_fold<double>(context, row->kind);
    case WideKind::int64:
      return plan_fold<int64_t>(context, row->kind);
    default:
      return plan_fold<uint64_t>(context, row->kind);
  }
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
      const double result = std::isinf(top) && !std::isnan(sum) ? top : top + std::log(sum);
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

namespace {

OpTraits reduce_traits(std::string_view name) {
  const OpTraits traits = OpTraits::linear().with(SizedBy::parameters);
  const bool chooses = name == "ReduceMax" || name == "ReduceMin";
  return chooses ? traits.with(PrecisionClass::gray).with(Rounding::exact) : traits;
}

}  // namespace

void register_family(Registry& registry) {
  std::vector<std::pair<std::string_view, DTypeSet>> names = {{"ReduceLogSumExp", kNumbers}};
  for (const ReduceRow& row : kRows) names.emplace_back(row.name, row.types);
  for (const auto& [name, types] : names) {
    OpSchema schema{.name = name,
                    .since = 1,
                    .inputs = {{"data", "T"}},
                    .outputs = {{"reduced", "T"}},
                    .types = {{"T", types}},
                    .attrs = {{"axes", AttrKind::ints}, {"keepdims", AttrKind::i, int64_t{1}}},
                    .traits = reduce_traits(name),
                    .shape = reduce_rule};
    registry.add(schema);
    schema.since = name == "ReduceSum" ? 13 : 18;
    schema.inputs.push_back({"axes", "I", Presence::optional});
    schema.types.push_back({"I", {DType::i64}});
    schema.attrs = {{"keepdims", AttrKind::i, int64_t{1}},
                    {"noop_with_empty_axes", AttrKind::i, int64_t{0}}};
    registry.add(schema);
    const bool exponential = name == "ReduceLogSumExp";
    registry.add(KernelDef{.op = name,
                           .name = "reduce_reference",
                           .types = types,
                           .create = exponential ? create_with_runtime_params<plan_log_sum_exp, 2>
                                                 : create_with_runtime_params<plan_reduce, 2>});
  }
  register_arg_reduce(registry);
  register_rows(registry);
}

}  // namespace anynpu::ops::reduce
