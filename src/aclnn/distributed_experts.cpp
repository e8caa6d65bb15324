// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts whose experts lie on several ranks (expert parallelism): tokens go to the
// ranks of their experts, and results come back. Every rank gathers the tokens of all and takes
// those that are for it: what is sent then depends on no data. Rows of a rank are sorted by expert,
// then by the rank that they come from, then by token. How the outputs lie comes from memory
// (docs/aclnn.md).
#include <algorithm>

#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kFloat = DType::f32;

Value int64_of(Recipe& r, int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); }
Value counting(Recipe& r, int64_t count) {
  return r.op("Range", {int64_of(r, 0), int64_of(r, count), int64_of(r, 1)});
}

struct World {
  int64_t ranks = 1, rank = 0, experts = 1, local = 1, first = 0;
  int64_t tokens = 0, most = 0, k = 1, width = 0;  // most: tokens of a rank
};

bool present(Recipe& r, const char* name) {
  return r.has_parameter(name) && r.given(name) && r.tensor(name).count() > 0;
}
// Some versions call it one way, some the other.
const char* either(Recipe& r, const char* a, const char* b) { return r.has_parameter(a) ? a : b; }

World world_of(Recipe& r, int64_t tokens, int64_t width) {
  World w;
  w.ranks = r.integer("epWorldSize"), w.rank = r.integer("epRankId"),
  w.experts = r.integer("moeExpertNum");
  const Shape ids = r.shape("expertIds");
  if (w.ranks < 1 || w.rank < 0 || w.rank >= w.ranks || w.experts < 1 || w.experts % w.ranks != 0 ||
      w.experts > 1 << 20) {
    refuse(
        "epWorldSize is {}, epRankId {} and moeExpertNum {}; expected a rank of them, and as many "
        "experts on each",
        w.ranks, w.rank, w.experts);
  }
  for (const char* name : {"sharedExpertRankNum", "zeroExpertNum", "copyExpertNum",
                           "constExpertNum", "expertShardType", "commQuantMode"}) {
    if (r.has_parameter(name) && r.integer(name) != 0)
      refuse("{} is {}; expected 0", name, r.integer(name));
  }
  if (r.integer("tpWorldSize") > 1)
    refuse("tpWorldSize is {}; expected 0 or 1", r.integer("tpWorldSize"));
  for (const char* name : {"elasticInfoOptional", "oriXOptional"}) {
    if (present(r, name)) refuse("{} is given; expected null", name);
  }
  if (ids.size() != 2 || ids[0] != tokens) {
    refuse("expertIds is {} for {} tokens; expected tokens x experts of each", to_string(ids),
           tokens);
  }
  w.local = w.experts / w.ranks, w.first = w.rank * w.local;
  w.tokens = tokens, w.k = std::max<int64_t>(ids[1], 1), w.width = width;
  const int64_t all = r.integer("globalBs");
  w.most = all == 0 ? tokens : all / w.ranks;
  if (w.most < tokens || (all != 0 && all % w.ranks != 0) ||
      w.most > kMostItems / (w.ranks * w.k)) {
    refuse(
        "globalBs is {} for {} ranks, this one has {} tokens; expected the most of a rank times "
        "the ranks",
        all, w.ranks, tokens);
  }
  return w;
}

Value more_rows(Recipe& r, Value x, int64_t rows, double value) {
  Shape s = r.shape(x);
  if (s[0] >= rows) return x;
  s[0] = rows - s[0];
  return r.op("Concat", {x, r.filled(r.dtype(x), s, value)}, {{"axis", 0}});
}

// Experts of every place; -1 for tokens that do not take part.
Value wanted_experts(Recipe& r, const World& w) {
  Value ids = r.cast(r.in("expertIds"), DType::i64);
  const char* const mask = either(r, "xActiveMask", "xActiveMaskOptional");
  if (present(r, mask)) {
    Value active = r.cast(r.in(mask), DType::boolean);
    if (r.shape(active).size() == 1) active = r.reshape(active, {w.tokens, 1});
    ids = r.op("Where", {active, ids, int64_of(r, -1)});
  }
  return ids;
}

struct Order {
  Value held, place, counts;
};
Order by_expert(Recipe& r, Value experts, int64_t begin, int64_t end) {
  const auto made = r.ops("ExpertSort", {r.reshape(experts, {element_count(r.shape(experts))})}, 3,
                          {{"begin", begin}, {"end", end}, {"capacity", 0}});
  return {made[0], made[1], made[2]};
}

Value running(Recipe& r, Value x) { return r.op("CumSum", {x, int64_of(r, 0)}); }

// How many places before each have the same expert: its row among theirs.
Value turns(Recipe& r, Value experts, int64_t count) {
  const Order o = by_expert(r, experts, 0, count);
  const Value start = r.op("Sub", {running(r, o.counts), o.counts});
  const Value flat = r.reshape(experts, {element_count(r.shape(experts))});
  const Value safe = r.op("Clip", {flat, int64_of(r, 0), int64_of(r, count - 1)});
  return r.op("Sub", {o.place, r.op("Gather", {start, safe}, {{"axis", 0}})});
}

Value limited_rows(Recipe& r, Value rows, int64_t wanted) {
  return r.extent(rows, 0) > wanted ? r.slice(rows, 0, 0, wanted) : more_rows(r, rows, wanted, 0);
}

void out_if_wanted(Recipe& r, const char* name, Value value) {
  if (!present(r, name)) return;
  const int64_t wanted = r.tensor(name).count();
  Value flat = r.reshape(value, {element_count(r.shape(value))});
  r.out(name, r.reshape(limited_rows(r, flat, wanted), r.shape(name)));
}

void dispatch(Recipe& r) {
  const Shape x = r.shape("x");
  if (x.size() != 2) refuse("x is {}; expected tokens and channels", to_string(x));
  const World w = world_of(r, x[0], x[1]);
  const char* const smooth = either(r, "scales", "scalesOptional");
  const char* const shares = either(r, "expertScales", "expertScalesOptional");
  const char* const rows_out = either(r, "expandX", "expandXOut");
  const int64_t mode = r.integer("quantMode");
  if (mode != 0 && mode != 2)
    refuse("quantMode is {}; expected 0 (none) or 2 (each row by its largest)", mode);
  const Value own = wanted_experts(r, w);
  out_if_wanted(r, "expandIdx", turns(r, own, w.experts));
  const bool weighed = present(r, shares);
  std::vector<Recipe::Given> given = {{more_rows(r, r.in("x"), w.most, 0), Exchange::all_gather},
                                      {more_rows(r, own, w.most, -1), Exchange::all_gather}};
  if (weighed)
    given.push_back({more_rows(r, r.cast(r.in(shares), kFloat), w.most, 0), Exchange::all_gather});
  const Values all = r.next_part("groupEp", w.ranks, given);

  const int64_t places = w.ranks * w.most * w.k, capacity = r.shape(rows_out)[0];
  const Order o = by_expert(r, all[1], w.first, w.first + w.local);
  const Value held = limited_rows(r, o.held, capacity);
  const Value taken = r.op(
      "Less",
      {counting(r, capacity), r.op("ReduceSum", {o.counts, r.constant({0})}, {{"keepdims", 1}})});
  const Value source = r.op("Where", {taken, held, int64_of(r, -1)});
  Value rows = r.op("GatherRows", {all[0], source}, {{"divisor", w.k}});
  if (mode == 2) {
    Value wide = r.cast(rows, kFloat);
    if (present(r, smooth)) {
      const Value expert =
          r.op("Add",
               {r.op("SearchSorted", {running(r, o.counts), counting(r, capacity)}, {{"right", 1}}),
                int64_of(r, r.shape(smooth)[0] == w.local ? 0 : w.first)});
      wide = r.op("Mul", {wide, r.op("GatherRows", {scale_of(r, smooth), expert})});
    }
    const RowQuantised q = quantise_rows(r, wide, r.dtype(rows_out));
    rows = q.values;
    out_if_wanted(r, either(r, "dynamicScales", "dynamicScalesOut"), q.scales);
  }
  r.out(rows_out, rows);
  const int64_t kind = r.integer("expertTokenNumsType");
  if (kind != 0 && kind != 1)
    refuse("expertTokenNumsType is {}; expected 0 (sums) or 1 (counts)", kind);
  out_if_wanted(r, either(r, "expertTokenNums", "expertTokenNumsOut"),
                kind == 0 ? running(r, o.counts) : o.counts);

  // Sums of the rows that come from each rank, expert by expert.
  const Value expert = r.op("Sub", {r.reshape(all[1], {places}), int64_of(r, w.first)});
  const Value here = r.op("And", {r.op("GreaterOrEqual", {expert, int64_of(r, 0)}),
                                  r.op("Less", {expert, int64_of(r, w.local)})});
  const Value from = r.op("FloorDivide", {counting(r, places), int64_of(r, w.most * w.k)});
  const Value cell = r.op("Add", {r.op("Mul", {expert, int64_of(r, w.ranks)}), from});
  const Value index = r.op("Where", {here, cell, int64_of(r, w.local * w.ranks)});
  const Value counted = r.op(
      "ScatterElements",
      {r.filled(DType::i64, {w.local * w.ranks + 1}, 0), index, r.filled(DType::i64, {places}, 1)},
      {{"axis", 0}, {"reduction", "add"}});
  out_if_wanted(r, either(r, "epRecvCounts", "epRecvCountsOut"),
                running(r, r.slice(counted, 0, 0, w.local * w.ranks)));
  out_if_wanted(r, either(r, "tpRecvCounts", "tpRecvCountsOut"), r.constant({0}));
  if (weighed) {
    const Value column = r.reshape(all[2], {places, 1});
    out_if_wanted(r, either(r, "expandScales", "expandScalesOut"),
                  r.op("GatherRows", {column, source}));
  }
  if (!present(r, "assistInfoForCombineOut")) return;
  // Rank, token and choice of every row, in 128 numbers a row.
  const int64_t per_rank = w.most * w.k,
                room = r.tensor("assistInfoForCombineOut").count() / std::max<int64_t>(capacity, 1);
  if (room < 3)
    refuse("assistInfoForCombineOut has {} numbers for {} rows; expected 128 each",
           r.tensor("assistInfoForCombineOut").count(), capacity);
  const Value in_rank = r.op("Mod", {source, int64_of(r, per_rank)});
  const auto column = [&](Value v) { return r.reshape(v, {capacity, 1}); };
  const Value three = r.op("Concat",
                           {column(r.op("FloorDivide", {source, int64_of(r, per_rank)})),
                            column(r.op("FloorDivide", {in_rank, int64_of(r, w.k)})),
                            column(r.op("Mod", {in_rank, int64_of(r, w.k)}))},
                           {{"axis", 1}});
  out_if_wanted(r, "assistInfoForCombineOut",
                r.op("Pad", {three, r.constant({0, 0, 0, room - 3})}));
}

// What came back for every token, weighed and added: tokens x channels in float32.
Value combined(Recipe& r) {
  const Shape rows = r.shape("expandX");
  if (rows.size() != 2 || r.rank("expertIds") != 2) {
    refuse(
        "expandX is {} and expertIds {}; expected rows of channels, and tokens x experts of each",
        to_string(rows), to_string(r.shape("expertIds")));
  }
  const World w = world_of(r, r.shape("expertIds")[0], rows[1]);
  for (const char* name :
       {"activationScale", "activationScaleOptional", "weightScale", "weightScaleOptional"}) {
    if (present(r, name)) refuse("{} is given; expected null: rows come back as floats", name);
  }
  const int64_t cells = w.local * w.ranks, places = w.tokens * w.k;
  const Value own = wanted_experts(r, w);
  Value sums =
      r.cast(r.reshape(r.in("epSendCounts"), {r.tensor("epSendCounts").count()}), DType::i64);
  sums = limited_rows(r, sums, cells);
  const Values all = r.next_part("groupEp", w.ranks,
                                 {{r.in("expandX"), Exchange::all_gather},
                                  {sums, Exchange::all_gather},
                                  {own},
                                  {turns(r, own, w.experts)}});
  const Value expert = r.reshape(all[2], {places});
  const Value safe = r.op("Clip", {expert, int64_of(r, 0), int64_of(r, w.experts - 1)});
  const Value owner = r.op("FloorDivide", {safe, int64_of(r, w.local)});
  const Value cell =
      r.op("Add", {r.op("Mul", {r.op("Mod", {safe, int64_of(r, w.local)}), int64_of(r, w.ranks)}),
                   int64_of(r, w.rank)});
  // Rows of the cells before, on that rank.
  const Value before = r.op("Concat",
                            {r.filled(DType::i64, {w.ranks, 1}, 0),
                             r.slice(r.reshape(all[1], {w.ranks, cells}), 1, 0, cells - 1)},
                            {{"axis", 1}});
  const Value at = r.op("Add", {r.op("Mul", {owner, int64_of(r, cells)}), cell});
  const Value start = r.op("Gather", {r.reshape(before, {w.ranks * cells}), at}, {{"axis", 0}});
  Value row =
      r.op("Add", {r.op("Add", {r.op("Mul", {owner, int64_of(r, rows[0])}), start}), all[3]});
  row = r.op("Where", {r.op("Less", {expert, int64_of(r, 0)}), int64_of(r, -1), row});
  const Value shares = r.reshape(r.cast(r.in("expertScales"), kFloat), {w.tokens, w.k});
  Value y = r.op("SumRows", {r.cast(all[0], kFloat), row, shares}, {{"terms", w.k}});
  if (present(r, "sharedExpertXOptional"))
    y = r.op("Add",
             {y, r.reshape(r.cast(r.in("sharedExpertXOptional"), kFloat), {w.tokens, w.width})});
  return y;
}

void combine(Recipe& r) {
  const Value y = combined(r);
  const char* const out = either(r, "x", "xOut");
  r.out(out, r.reshape(y, r.shape(out)));
}

void combine_and_norm(Recipe& r) {
  const Value sum = combined(r);
  const Value x = r.op("Add", {sum, r.reshape(r.cast(r.in("residualX"), kFloat), r.shape(sum))});
  const Value mean = r.op("ReduceMean", {r.op("Mul", {x, x}), r.constant({1})}, {{"keepdims", 1}});
  const Value rstd =
      r.op("Reciprocal", {r.op("Sqrt", {r.op("Add", {mean, r.number("normEps", kFloat)})})});
  r.out("xOut", r.reshape(x, r.shape("xOut")));
  r.out("rstdOut", r.reshape(rstd, r.shape("rstdOut")));
  r.out("yOut", r.reshape(r.op("Mul", {r.op("Mul", {x, rstd}), r.cast(r.in("gamma"), kFloat)}),
                          r.shape("yOut")));
}

const Row kRows[] = {
    {"aclnnMoeDistributeDispatch", dispatch},
    {"aclnnMoeDistributeDispatchV2", dispatch},
    {"aclnnMoeDistributeDispatchV3", dispatch},
    {"aclnnMoeDistributeCombine", combine},
    {"aclnnMoeDistributeCombineV2", combine},
    {"aclnnMoeDistributeCombineV3", combine},
    {"aclnnMoeDistributeCombineAddRmsNorm", combine_and_norm},
    {"aclnnMoeDistributeCombineAddRmsNormV2", combine_and_norm},
};

}  // namespace

std::span<const Row> distributed_experts_rows() { return kRows; }

}  // namespace anynpu::aclnn
