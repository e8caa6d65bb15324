// SPDX-License-Identifier: Apache-2.0
// Products whose sum, or whose rows, belong to several ranks (tensor parallelism). The sum of a
// rank's part is float32 until all ranks are added, so that the result is rounded once. commTurn
// and streamMode say how a card interleaves its work and change nothing here.
#include <algorithm>

#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kSum = DType::f32;

void check_product(Recipe& r) {
  if (r.has_parameter("reduceOp") && !r.text("reduceOp").empty() && r.text("reduceOp") != "sum") {
    refuse("reduceOp is '{}'; expected sum", r.text("reduceOp"));
  }
  for (const char* name : {"commQuantScale1Optional", "commQuantScale2Optional"}) {
    if (r.has_parameter(name) && r.given(name) && r.tensor(name).count() > 0) {
      refuse("{} is given; expected null: ranks exchange float32", name);
    }
  }
}

Value plain_product(Recipe& r) {
  return r.op("MatMul", {r.cast(r.in("x1"), kSum), r.cast(r.in("x2"), kSum)});
}

// Integers: their sums with a whole bias, times the scales of columns and rows.
Value whole_product(Recipe& r) {
  const char* const column = r.has_parameter("dequantScale") ? "dequantScale" : "x2Scale";
  const char* const row =
      r.has_parameter("x1ScaleOptional") ? "x1ScaleOptional" : "pertokenScaleOptional";
  if (r.has_parameter("groupSize") && r.integer("groupSize") != 0)
    refuse("groupSize is {}; expected 0", r.integer("groupSize"));
  Value sum = r.op("MatMulInteger", {r.in("x1"), r.in("x2")});
  const char* const bias = r.has_parameter("bias") ? "bias" : "biasOptional";
  if (r.given(bias)) sum = r.op("Add", {sum, r.cast(r.in(bias), DType::i32)});
  Value y = r.cast(sum, kSum);
  y = r.op("Mul", {y, along(r, scale_of(r, column), r.shape(y), -1)});
  if (r.has_parameter(row) && r.given(row)) {
    const Value scale = scale_of(r, row);
    Shape beside = r.shape(y);
    beside.back() = 1;
    y = r.op("Mul", {y, element_count(r.shape(scale)) == 1 ? scale : r.reshape(scale, beside)});
  }
  return y;
}

// Weights of few bits: (x2 + offset) * scale, for all, for columns, or for groups of rows.
Value widened_product(Recipe& r) {
  Value w = r.cast(unpacked(r, r.in("x2")), kSum);
  const Shape s = r.shape(w);
  if (s.size() != 2) refuse("x2 is {}; expected rows and columns", to_string(s));
  const int64_t group = r.integer("antiquantGroupSize"), k = s[0], n = s[1];
  const auto fitted = [&](const char* name) {
    const Value x = r.cast(r.in(name), kSum);
    const int64_t count = element_count(r.shape(x));
    if (count == 1) return r.reshape(x, {1, 1});
    if (count == n) return r.reshape(x, {1, n});
    const int64_t groups = group > 0 ? (k + group - 1) / group : 0;
    if (groups == 0 || count != groups * n) {
      refuse("{} has {} numbers for a weight of {} in groups of {}", name, count, to_string(s),
             group);
    }
    const Value wide = r.expand(r.reshape(x, {groups, 1, n}), {groups, group, n});
    return r.slice(r.reshape(wide, {groups * group, n}), 0, 0, k);
  };
  if (r.given("antiquantOffset")) w = r.op("Add", {w, fitted("antiquantOffset")});
  w = r.op("Mul", {w, fitted("antiquantScale")});
  return r.op("MatMul", {r.cast(r.in("x1"), kSum), w});
}

enum : int64_t { kPlain, kWhole, kWidened };

Value own_product(Recipe& r) {
  check_product(r);
  if (r.row().number == kWhole) return whole_product(r);
  const Value y = r.row().number == kWidened ? widened_product(r) : plain_product(r);
  return r.given("bias") ? r.op("Add", {y, r.cast(r.in("bias"), kSum)}) : y;
}

Value summed_product(Recipe& r) {
  Value y = own_product(r);
  for (const char* name : {"x3", "x3Optional"}) {
    if (r.has_parameter(name) && r.given(name)) y = r.op("Add", {y, r.cast(r.in(name), kSum)});
  }
  return r.next_part("group", 0, {{y, Exchange::all_reduce}})[0];
}

void product_all_reduce(Recipe& r) {
  const Value y = summed_product(r);
  r.out("output", r.reshape(y, r.shape("output")));
}

// The sum of all ranks and a residual, and its RMS norm. In place, the residual becomes the sum.
void product_all_reduce_norm(Recipe& r) {
  const Shape s = r.shape("residual");
  const Value y = r.op("Add", {r.reshape(summed_product(r), s), r.cast(r.in("residual"), kSum)});
  const auto last = static_cast<int64_t>(s.size()) - 1;
  const Value mean =
      r.op("ReduceMean", {r.op("Mul", {y, y}), r.constant({last})}, {{"keepdims", 1}});
  const Value root = r.op("Sqrt", {r.op("Add", {mean, r.number("epsilon", kSum)})});
  r.out("normOut", r.op("Mul", {r.op("Div", {y, root}), r.cast(r.in("gamma"), kSum)}));
  r.out(r.has_parameter("y") ? "y" : "residual", y);
}

void gather_product(Recipe& r) {
  check_product(r);
  const Shape x = r.shape("x1"), y = r.shape("output");
  if (r.integer("gatherIndex") != 0)
    refuse("gatherIndex is {}; expected 0: x1 is gathered", r.integer("gatherIndex"));
  if (x.size() != 2 || y.size() != 2 || x[0] < 1 || y[0] % x[0] != 0) {
    refuse("x1 is {} and output {}; expected rows and columns, and the rows of all ranks",
           to_string(x), to_string(y));
  }
  const Value all = r.next_part("group", y[0] / x[0], {{r.in("x1"), Exchange::all_gather}})[0];
  if (r.given("gatherOut") && r.tensor("gatherOut").count() > 0) r.out("gatherOut", all);
  Value made = r.op("MatMul", {r.cast(all, kSum), r.cast(r.in("x2"), kSum)});
  if (r.given("bias")) made = r.op("Add", {made, r.cast(r.in("bias"), kSum)});
  r.out("output", made);
}

void product_reduce_scatter(Recipe& r) {
  const Value y = own_product(r);
  const Shape all = r.shape(y), own = r.shape("output");
  if (all.size() != 2 || own.size() != 2 || own[0] < 1 || all[0] % own[0] != 0) {
    refuse("the product is {} and output {}; expected the rows of one rank", to_string(all),
           to_string(own));
  }
  r.out("output", r.next_part("group", all[0] / own[0], {{y, Exchange::reduce_scatter}})[0]);
}

// Nobody goes on before all ranks are here.
void wait_for_ranks(Recipe& r) {
  for (const char* name : {"timeOut", "elasticInfo"}) {
    if (r.has_parameter(name) && r.given(name) && r.tensor(name).count() > 0)
      refuse("{} is given; expected null", name);
  }
  (void)r.next_part("group", 0, {{r.constant({0}), Exchange::all_reduce}});
}

// Rows between ranks and the experts of each: sendCounts and recvCounts have a number for every
// rank and each of the experts where the rows are used. Rows travel rank by rank; products want
// them expert by expert.
struct Routes {
  int64_t ranks = 0, experts = 0;
  Ints sent, received;  // rows by rank
  Ints order;           // row i of the experts is row order[i] of the ranks
  Ints ends;            // of the rows of each expert
};

// `counts`: of the rows that experts have here.
Routes routes_of(Recipe& r, const char* counts) {
  for (const char* name : {"sendCountsTensorOptional", "recvCountsTensorOptional"}) {
    if (r.given(name)) refuse("{} is given; expected null: counts come as arrays", name);
  }
  Routes to;
  to.ranks = r.integer("epWorldSize");
  const Shape w = r.shape("gmmWeight");
  if (w.size() != 3 || w[0] < 1 || to.ranks < 1) {
    refuse("gmmWeight is {} and epWorldSize {}; expected experts x rows x columns, and ranks",
           to_string(w), to.ranks);
  }
  to.experts = w[0];
  const auto by_ranks = [&](const char* name) {
    const Ints list = r.ints(name);
    if (static_cast<int64_t>(list.size()) != to.ranks * to.experts) {
      refuse("{} has {} numbers; expected one for each of {} experts of {} ranks", name,
             list.size(), to.experts, to.ranks);
    }
    Ints sums(static_cast<size_t>(to.ranks), 0);
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i] < 0 || list[i] > kMostItems)
        refuse("{} has {}; expected 0 to {}", name, list[i], kMostItems);
      sums[i / static_cast<size_t>(to.experts)] += list[i];
    }
    return sums;
  };
  to.sent = by_ranks("sendCounts"), to.received = by_ranks("recvCounts");
  const Ints list = r.ints(counts);
  Ints begins{0};
  for (int64_t n : list) begins.push_back(begins.back() + n);
  for (int64_t e = 0; e < to.experts; ++e) {
    for (int64_t rank = 0; rank < to.ranks; ++rank) {
      const auto at = static_cast<size_t>(rank * to.experts + e);
      for (int64_t row = begins[at]; row < begins[at + 1]; ++row) to.order.push_back(row);
    }
    to.ends.push_back(static_cast<int64_t>(to.order.size()));
  }
  return to;
}

Value expert_products(Recipe& r, const Routes& to, Value x) {
  return r.op(
      "GroupedMatMul",
      {r.cast(x, kSum), r.constant(to.ends), {}, {}, {}, {}, {}, r.cast(r.in("gmmWeight"), kSum)},
      {{"transB", r.flag("transGmmWeight")}});
}

// The expert that all ranks share needs no exchange.
void shared_expert(Recipe& r) {
  if (!r.given("mmXOptional") || !r.given("mmWeightOptional") || !r.given("mmYOptional")) return;
  const Value w = r.cast(r.in("mmWeightOptional"), kSum);
  r.out("mmYOptional", r.op("MatMul", {r.cast(r.in("mmXOptional"), kSum),
                                       r.flag("transMmWeight") ? r.transpose(w, {1, 0}) : w}));
}

void exchange_then_experts(Recipe& r) {
  const Routes to = routes_of(r, "recvCounts");
  const Value x = r.next_part("group", to.ranks,
                              {{r.in("gmmX"), Exchange::all_to_all, to.sent, to.received}})[0];
  const Value rows =
      to.order.empty() ? x : r.op("Gather", {x, r.constant(to.order)}, {{"axis", 0}});
  if (r.flag("permuteOutFlag")) r.out("permuteOutOptional", rows);
  r.out("gmmY", expert_products(r, to, rows));
  shared_expert(r);
}

void experts_then_exchange(Recipe& r) {
  const Routes to = routes_of(r, "sendCounts");
  if (r.shape("gmmX")[0] != static_cast<int64_t>(to.order.size())) {
    refuse("gmmX is {} and sendCounts are {} rows; expected as many", to_string(r.shape("gmmX")),
           to.order.size());
  }
  Ints back(to.order.size(), 0);
  for (size_t i = 0; i < to.order.size(); ++i)
    back[static_cast<size_t>(to.order[i])] = static_cast<int64_t>(i);
  Value y = r.cast(expert_products(r, to, r.in("gmmX")), r.dtype("y"));
  if (!back.empty()) y = r.op("Gather", {y, r.constant(back)}, {{"axis", 0}});
  r.out("y", r.next_part("group", to.ranks, {{y, Exchange::all_to_all, to.sent, to.received}})[0]);
  shared_expert(r);
}

const Row kRows[] = {
    {"aclnnMatmulAllReduce", product_all_reduce},
    {"aclnnMatmulAllReduceV2", product_all_reduce},
    {"aclnnQuantMatmulAllReduce", product_all_reduce, "", false, kWhole},
    {"aclnnQuantMatmulAllReduceV2", product_all_reduce, "", false, kWhole},
    {"aclnnQuantMatmulAllReduceV3", product_all_reduce, "", false, kWhole},
    {"aclnnQuantMatmulAllReduceV4", product_all_reduce, "", false, kWhole},
    {"aclnnWeightQuantMatmulAllReduce", product_all_reduce, "", false, kWidened},
    {"aclnnMatmulAllReduceAddRmsNorm", product_all_reduce_norm},
    {"aclnnQuantMatmulAllReduceAddRmsNorm", product_all_reduce_norm, "", false, kWhole},
    {"aclnnWeightQuantMatmulAllReduceAddRmsNorm", product_all_reduce_norm, "", false, kWidened},
    {"aclnnInplaceMatmulAllReduceAddRmsNorm", product_all_reduce_norm},
    {"aclnnInplaceQuantMatmulAllReduceAddRmsNorm", product_all_reduce_norm, "", false, kWhole},
    {"aclnnInplaceWeightQuantMatmulAllReduceAddRmsNorm", product_all_reduce_norm, "", false,
     kWidened},
    {"aclnnAllGatherMatmul", gather_product},
    {"aclnnMatmulReduceScatter", product_reduce_scatter},
    {"aclnnAlltoAllvGroupedMatMul", exchange_then_experts},
    {"aclnnGroupedMatMulAlltoAllv", experts_then_exchange},
    {"aclnnDistributeBarrier", wait_for_ranks},
    {"aclnnDistributeBarrierV2", wait_for_ranks},
};

}  // namespace

std::span<const Row> collective_products_rows() { return kRows; }

}  // namespace anynpu::aclnn
