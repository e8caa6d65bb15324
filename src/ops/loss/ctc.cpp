// SPDX-License-Identifier: Apache-2.0
// CtcLoss and CtcLossGrad (domain anynpu): connectionist temporal classification by the
// forward-backward algorithm over CTC alignments, in log space and double. Inputs: log
// probabilities [T, N, C], targets [N, S] or concatenated, input and target lengths of each
// sequence. CtcLoss returns the loss of each sequence and the forward variables log alpha
// [N, T, 2 S + 1], which the gradient needs. The gradient assumes, as that of frameworks, that the
// log probabilities come from log_softmax.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/elements/index_value.h"
#include "ops/elements/wide.h"
#include "ops/loss/loss.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::loss {

namespace ctc {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();  // the log of no chance

double log_sum(double a, double b) {
  const double top = std::max(a, b);
  return top == kNever ? kNever : top + std::log1p(std::exp(std::min(a, b) - top));
}

struct Extents {
  int64_t steps, batch, classes, states;
};

Status rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  for (Operand& output : context.outputs) output.dtype = x.dtype;
  const int64_t states = context.int_attr("states");
  const bool gradient = context.schema->name == "CtcLossGrad";
  const auto batch = static_cast<size_t>(x.rank() == 3 ? x.shape[1] : -1);
  if (x.rank() != 3 || context.ints_attr("input_lengths").size() != batch ||
      context.ints_attr("target_lengths").size() != batch || states < 1 || states % 2 != 1) {
    return fail(
        Code::shape_mismatch,
        "{}: log probabilities {} with {} and {} lengths and {} states, expected [T, N, C], N "
        "lengths of each and an odd number",
        context.label(), to_string(x.shape), context.ints_attr("input_lengths").size(),
        context.ints_attr("target_lengths").size(), states);
  }
  if (gradient) return set_output(context, 0, x.dtype, x.shape);
  ANYNPU_TRY(set_output(context, 0, x.dtype, {x.shape[1]}));
  return set_output(context, 1, x.dtype, {x.shape[1], x.shape[0], states});
}

// One sequence of a batch.
struct Sequence {
  Extents extents;
  int64_t place, length, blank;
  std::vector<int64_t> labels;  // blanks between the targets and around them

  int64_t states() const { return static_cast<int64_t>(labels.size()); }
  // A state may follow the one two before when both are different targets.
  bool skips(int64_t s) const {
    const auto at = static_cast<size_t>(s);
    return s >= 2 && labels[at] != blank && labels[at] != labels[at - 2];
  }
  int64_t at(int64_t t, int64_t label) const {
    return (t * extents.batch + place) * extents.classes + label;
  }
};

struct Setup {
  Extents extents;
  std::vector<int64_t> lengths, counts, starts;
  int64_t blank;
  DType label_type, type;
  std::string label;

  Result<Sequence> sequence(const std::byte* targets, int64_t n) const {
    const auto at = static_cast<size_t>(n);
    Sequence made{extents, n, lengths[at], blank, {}};
    made.labels.assign(static_cast<size_t>(2 * counts[at] + 1), blank);
    for (int64_t i = 0; i < counts[at]; ++i) {
      const int64_t target = index_at(label_type, targets, starts[at] + i);
      if (target < 0 || target >= extents.classes)
        return index_failure(label, target, extents.classes);
      made.labels[static_cast<size_t>(2 * i + 1)] = target;
    }
    return made;
  }
};

Result<Setup> setup_of(const OpContext& context) {
  const Operand &x = context.inputs[0], &targets = context.inputs[1];
  Setup s{{x.shape[0], x.shape[1], x.shape[2], context.int_attr("states")},
          context.ints_attr("input_lengths"),
          context.ints_attr("target_lengths"),
          {},
          context.int_attr("blank"),
          targets.dtype,
          x.dtype,
          context.label()};
  if (s.blank < 0 || s.blank >= s.extents.classes) {
    return fail(Code::invalid_argument, "{}: blank is {}, expected 0 to {}", s.label, s.blank,
                s.extents.classes - 1);
  }
  const bool padded = targets.rank() == 2;
  const int64_t there = element_count(targets.shape);
  int64_t next = 0;
  for (size_t n = 0; n < s.counts.size(); ++n) {
    const int64_t start = padded ? static_cast<int64_t>(n) * targets.shape[1] : next;
    const int64_t most = padded ? targets.shape[1] : there - next;
    next += s.counts[n];
    s.starts.push_back(start);
    if (s.lengths[n] < 0 || s.lengths[n] > s.extents.steps || s.counts[n] < 0 ||
        s.counts[n] > most || 2 * s.counts[n] + 1 > s.extents.states) {
      return fail(Code::invalid_argument,
                  "{}: sequence {} has {} steps and {} targets, expected at most {} and {}",
                  s.label, n, s.lengths[n], s.counts[n], s.extents.steps,
                  std::min(most, (s.extents.states - 1) / 2));
    }
  }
  return s;
}

// The logarithms of the forward sums, [length, states], and the loss.
double forward(const Sequence& q, const std::vector<double>& x, std::vector<double>& alpha) {
  const int64_t states = q.states();
  alpha.assign(static_cast<size_t>(q.length * states), kNever);
  if (q.length == 0) return states == 1 ? 0 : std::numeric_limits<double>::infinity();
  const auto label = [&](int64_t s) { return q.labels[static_cast<size_t>(s)]; };
  const auto chance = [&](int64_t t, int64_t s) {
    return x[static_cast<size_t>(t * q.extents.classes + label(s))];
  };
  alpha[0] = chance(0, 0);
  if (states > 1) alpha[1] = chance(0, 1);
  for (int64_t t = 1; t < q.length; ++t) {
    const double* before = alpha.data() + (t - 1) * states;
    for (int64_t s = 0; s < states; ++s) {
      double sum = before[s];
      if (s > 0) sum = log_sum(sum, before[s - 1]);
      if (q.skips(s)) sum = log_sum(sum, before[s - 2]);
      alpha[static_cast<size_t>(t * states + s)] = sum + chance(t, s);
    }
  }
  const double* last = alpha.data() + (q.length - 1) * states;
  const double both = states > 1 ? log_sum(last[states - 1], last[states - 2]) : last[0];
  return -both;
}

// The logarithms of the sums over what follows each state, its own step included.
std::vector<double> backward(const Sequence& q, const std::vector<double>& x) {
  const int64_t states = q.states();
  std::vector<double> beta(static_cast<size_t>(q.length * states), kNever);
  if (q.length == 0) return beta;
  const auto chance = [&](int64_t t, int64_t s) {
    return x[static_cast<size_t>(t * q.extents.classes + q.labels[static_cast<size_t>(s)])];
  };
  double* last = beta.data() + (q.length - 1) * states;
  last[states - 1] = chance(q.length - 1, states - 1);
  if (states > 1) last[states - 2] = chance(q.length - 1, states - 2);
  for (int64_t t = q.length - 2; t >= 0; --t) {
    const double* after = beta.data() + (t + 1) * states;
    for (int64_t s = 0; s < states; ++s) {
      double sum = after[s];
      if (s + 1 < states) sum = log_sum(sum, after[s + 1]);
      if (s + 2 < states && q.skips(s + 2)) sum = log_sum(sum, after[s + 2]);
      beta[static_cast<size_t>(t * states + s)] = sum + chance(t, s);
    }
  }
  return beta;
}

// The log probabilities of one sequence, [length, classes].
std::vector<double> read(const Setup& s, const Sequence& q, const std::byte* from) {
  std::vector<double> x(static_cast<size_t>(q.length * s.extents.classes));
  const auto load = load_block<double>(s.type);
  for (int64_t t = 0; t < q.length; ++t)
    load(from, q.at(t, 0), 1, x.data() + t * s.extents.classes, s.extents.classes);
  return x;
}

PlanResult plan_loss(const OpContext& context) {
  ANYNPU_ASSIGN(Setup setup, setup_of(context));
  const bool clears = context.int_attr("zero_infinity") != 0;
  return make_checked_plan([=, s = std::move(setup)](const RunArgs& args) -> Status {
    const auto store = store_block<double>(s.type);
    for (int64_t n = 0; n < s.extents.batch; ++n) {
      ANYNPU_ASSIGN(const Sequence q, s.sequence(args.inputs[1], n));
      std::vector<double> alpha;
      double loss = forward(q, read(s, q, args.inputs[0]), alpha);
      if (clears && std::isinf(loss)) loss = 0;
      store(args.outputs[0], n, &loss, 1);
      if (args.outputs.size() < 2 || !args.outputs[1]) continue;
      std::vector<double> row(static_cast<size_t>(s.extents.states));
      for (int64_t t = 0; t < s.extents.steps; ++t) {
        std::fill(row.begin(), row.end(), kNever);
        if (t < q.length) std::copy_n(alpha.data() + t * q.states(), q.states(), row.data());
        store(args.outputs[1], (n * s.extents.steps + t) * s.extents.states, row.data(),
              s.extents.states);
      }
    }
    return {};
  });
}

PlanResult plan_gradient(const OpContext& context) {
  ANYNPU_ASSIGN(Setup setup, setup_of(context));
  const bool clears = context.int_attr("zero_infinity") != 0;
  return make_checked_plan([=, s = std::move(setup)](const RunArgs& args) -> Status {
    const auto load = load_block<double>(s.type);
    const auto store = store_block<double>(s.type);
    const int64_t classes = s.extents.classes;
    std::vector<double> row(static_cast<size_t>(classes));
    for (int64_t n = 0; n < s.extents.batch; ++n) {
      ANYNPU_ASSIGN(const Sequence q, s.sequence(args.inputs[1], n));
      const std::vector<double> x = read(s, q, args.inputs[0]);
      std::vector<double> alpha;
      const double loss = forward(q, x, alpha);
      const std::vector<double> beta = backward(q, x);
      double share = 0;
      load(args.inputs[2], n, 1, &share, 1);
      for (int64_t t = 0; t < s.extents.steps; ++t) {
        std::fill(row.begin(), row.end(), t < q.length ? kNever : 0);
        if (t < q.length) {
          for (int64_t i = 0; i < q.states(); ++i) {
            const auto at = static_cast<size_t>(t * q.states() + i);
            double& sum = row[static_cast<size_t>(q.labels[static_cast<size_t>(i)])];
            sum = log_sum(sum, alpha[at] + beta[at]);
          }
          for (int64_t c = 0; c < classes; ++c) {
            const double chance = x[static_cast<size_t>(t * classes + c)];
            double& value = row[static_cast<size_t>(c)];
            value = (std::exp(chance) - std::exp(value + loss - chance)) * share;
            if (clears && std::isinf(loss)) value = 0;
          }
        }
        store(args.outputs[0], q.at(t, 0), row.data(), classes);
      }
    }
    return {};
  });
}

}  // namespace

}  // namespace ctc

void register_ctc(Registry& registry) {
  OpSchema schema{.name = "CtcLoss",
                  .domain = "anynpu",
                  .since = 1,
                  .inputs = {{"log_probs", "T"}, {"targets", "I"}},
                  .outputs = {{"loss", "T"}, {"log_alpha", "T", Presence::optional}},
                  .types = {{"T", kFloats}, {"I", kIndices}},
                  .attrs = {{"input_lengths", AttrKind::ints, {}, true},
                            {"target_lengths", AttrKind::ints, {}, true},
                            {"blank", AttrKind::i, int64_t{0}},
                            {"states", AttrKind::i, {}, true},
                            {"zero_infinity", AttrKind::i, int64_t{0}}},
                  .traits = OpTraits::general(),
                  .shape = ctc::rule};
  registry.add(schema);
  schema.name = "CtcLossGrad";
  schema.inputs.push_back({"gradient", "T"});
  schema.outputs = {{"Y", "T"}};
  registry.add(schema);
  registry.add(KernelDef{.op = "CtcLoss",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kFloats,
                         .create = create_plain<ctc::plan_loss>});
  registry.add(KernelDef{.op = "CtcLossGrad",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kFloats,
                         .create = create_plain<ctc::plan_gradient>});
}

}  // namespace anynpu::ops::loss
