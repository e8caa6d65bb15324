// SPDX-License-Identifier: Apache-2.0
// What servers of language models call around attention: caches written at places, the next step of
// all sequences, softmax with a mask, products in other orders.
#include <cmath>

#include "aclnn/arithmetic.h"
#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kType = DType::f32;

Value mul(Recipe& r, Value a, Value b) { return r.op("Mul", {a, b}); }
Value number(Recipe& r, int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); }

// data[b, ..., indices[b] : indices[b] + length, ...] = updates[b].
void update_cache(Recipe& r) {
  const auto rank = static_cast<int64_t>(r.rank("data"));
  if (rank == 0) refuse("data has no axes; expected a batch first");
  const int64_t axis = r.axis("axis", r.rank("data"));
  if (axis == 0 || r.tensor("indices").count() != r.shape("data")[0]) {
    refuse(
        "axis is {} of {}, with {} indices for a batch of {}; expected an axis behind the first, "
        "and an "
        "index each",
        axis, rank, r.tensor("indices").count(), r.shape("data")[0]);
  }
  const Value at = r.reshape(r.cast(r.in("indices"), DType::i64), {r.tensor("indices").count()});
  r.out("data", r.op("TensorScatter", {r.in("data"), r.cast(r.in("updates"), r.dtype("data")), at},
                     {{"axis", axis}}));
}

// The same for a list of caches, one a sample; those that the mask leaves out stay.
void update_list(Recipe& r) {
  const std::string reduce = r.text("reduceOptional");
  if (reduce != "update" && !reduce.empty())
    refuse("reduceOptional is '{}'; expected update", reduce);
  const auto count = static_cast<int64_t>(r.length("varRef"));
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) r.next_part();
    const auto place = static_cast<size_t>(i);
    const Value old = r.in("varRef", place);
    Shape one = r.shape(old);
    one.insert(one.begin(), 1);
    const int64_t axis = r.axis("axis", r.rank("updates"));
    const Value updates = r.slice(r.cast(r.in("updates"), r.dtype(old)), 0, i, i + 1);
    const Value at = r.slice(
        r.reshape(r.cast(r.in("indice"), DType::i64), {r.tensor("indice").count()}), 0, i, i + 1);
    Value made = r.reshape(
        r.op("TensorScatter", {r.reshape(old, one), updates, at}, {{"axis", axis}}), r.shape(old));
    if (r.given("maskOptional")) {
      const Value mask = r.cast(r.slice(r.in("maskOptional"), 0, i, i + 1), DType::boolean);
      made = r.op("Where", {r.reshape(mask, {}), made, old});
    }
    r.out("varRef", place, made);
  }
}

// What was sampled becomes the input of the next step: one token further in every sequence.
void advance(Recipe& r) {
  const int64_t queries = r.integer("numQueries"), size = r.integer("blockSize");
  const int64_t sequences = r.integer("numSeqs");
  if (queries < 1 || queries > sequences || size < 1) {
    refuse(
        "numQueries is {}, numSeqs {} and blockSize {}; expected at least 1, and at most numSeqs "
        "queries",
        queries, sequences, size);
  }
  const auto list = [&](const char* name) {
    return r.cast(r.reshape(r.in(name), {r.tensor(name).count()}), DType::i64);
  };
  const auto first = [&](Value x) { return r.slice(x, 0, 0, queries); };
  const auto write = [&](const char* name, Value fresh) {
    const Value old = list(name);
    const int64_t count = r.extent(old, 0);
    const Value rest = r.slice(old, 0, queries, count);
    const Value made = count > queries ? r.op("Concat", {fresh, rest}, {{"axis", 0}}) : fresh;
    r.out(name, r.reshape(made, r.shape(name)));
  };
  const Value lengths = r.op("Add", {first(list("seqLens")), number(r, 1)});
  const Value at = r.op("Sub", {lengths, number(r, 1)});
  const Value column = r.op("FloorDivide", {at, number(r, size)});
  const Value tables = r.slice(r.cast(r.in("blockTables"), DType::i64), 0, 0, queries);
  const Value block =
      r.op("GatherElements", {tables, r.reshape(column, {queries, 1})}, {{"axis", 1}});
  const Value within = r.op("Sub", {at, mul(r, column, number(r, size))});
  const Value slot = r.op("Add", {mul(r, r.reshape(block, {queries}), number(r, size)), within});
  write("inputTokens", first(list("sampledTokenIds")));
  write("seqLens", lengths);
  write("inputPositions", at);
  write("slotMapping", slot);
}

// Truth above the diagonal.
Value above_diagonal(Recipe& r, int64_t rows, int64_t columns) {
  const auto range = [&](int64_t n, const Shape& s) {
    return r.reshape(r.op("Range", {number(r, 0), number(r, n), number(r, 1)}), s);
  };
  return r.op("Greater", {range(columns, {1, columns}), range(rows, {rows, 1})});
}

Value softmax_mask(Recipe& r, bool fixed, const Shape& shape) {
  if (shape.size() < 2) refuse("x has {} axes; expected at least 2", shape.size());
  if (fixed) return above_diagonal(r, shape[shape.size() - 2], shape.back());
  return r.cast(r.in("mask"), DType::boolean);
}

void masked_softmax(Recipe& r) {
  const Value x = mul(r, r.cast(r.in("x"), kType), r.number("scale", kType));
  const Value mask = softmax_mask(r, r.flag("fixedTriuMask"), r.shape("x"));
  const Value kept = r.op("Where", {mask, r.constant(kType, -10000), x});
  r.out("y", r.op("Softmax", {kept}, {{"axis", -1}}));
}

void masked_softmax_gradient(Recipe& r) {
  const Value dy = r.cast(r.in("gradOutput"), kType), y = r.cast(r.in("y"), kType);
  const auto last = static_cast<int64_t>(r.rank("y")) - 1;
  const Value sum = r.op("ReduceSum", {mul(r, dy, y), r.constant({last})}, {{"keepdims", 1}});
  const Value g = mul(r, mul(r, r.op("Sub", {dy, sum}), y), r.number("scale", kType));
  const Value mask = softmax_mask(r, r.flag("fixTriuMask"), r.shape("y"));
  r.out("out", r.op("Where", {mask, r.constant(kType, 0), g}));
}

// Queries, keys and values of one product, by heads; queries by the root of the size of a head.
void split_heads(Recipe& r) {
  const Shape s = r.shape("qkv");
  const int64_t heads = r.integer("numHeads");
  if (s.size() != 3 || heads < 1 || s[2] % (3 * heads) != 0) {
    refuse("qkv is {} for {} heads; expected batch, tokens and three times a multiple",
           to_string(s), heads);
  }
  const int64_t size = s[2] / 3 / heads;
  const Value sum = r.op("Add", {r.cast(r.in("qkv"), kType), r.cast(r.in("qkvBias"), kType)});
  const Value cut = r.transpose(r.reshape(sum, {s[0], s[1], 3, heads, size}), {2, 0, 3, 1, 4});
  const char* const names[] = {"qOut", "kOut", "vOut"};
  for (int64_t i = 0; i < 3; ++i) {
    Value part = r.reshape(r.slice(cut, 0, i, i + 1), {s[0], heads, s[1], size});
    if (i == 0) part = mul(r, part, r.constant(kType, 1 / std::sqrt(static_cast<double>(size))));
    r.out(names[i], part);
  }
}

// Sums of the rows of each group.
void group_sums(Recipe& r) {
  const Value grad = r.cast(r.in("gradY"), kType);
  const Shape s = r.shape(grad);
  if (!r.given("groupIdxOptional")) {
    if (s.size() != 3)
      refuse("gradY is {} without groups; expected groups, rows and columns", to_string(s));
    return r.out("out", r.op("ReduceSum", {grad, r.constant({1})}, {{"keepdims", 0}}));
  }
  if (s.size() != 2) refuse("gradY is {} with groups; expected rows and columns", to_string(s));
  const int64_t kind = r.has_parameter("groupIdxType") ? r.integer("groupIdxType") : 0;
  const Value made = r.op("GroupedMatMul",
                          {r.filled(kType, {1, s[0]}, 1),
                           r.cast(r.in("groupIdxOptional"), DType::i64),
                           {},
                           {},
                           {},
                           {},
                           {},
                           grad},
                          {{"axis", 1}, {"list_type", kind}});
  r.out("out", r.reshape(made, r.shape("out")));
}

// Products of matrices whose axes are brought into another order before and after.
void turned_product(Recipe& r) {
  if (r.given("scale")) refuse("scale is given; expected null");
  if (r.integer("batchSplitFactor") > 1) {
    refuse("batchSplitFactor is {}; expected 1", r.integer("batchSplitFactor"));
  }
  const DType type = computed_in(r.dtype("out"));
  const auto matrix = [&](const char* name, const char* order) {
    const Value x = r.cast(r.in(name), type);
    const std::vector<int64_t> perm = r.ints(order);
    return perm.empty() ? x : r.transpose(x, perm);
  };
  Value y = r.op("MatMul", {matrix("x1", "permX1"), matrix("x2", "permX2")});
  if (r.given("bias")) y = r.op("Add", {y, r.cast(r.in("bias"), type)});
  const std::vector<int64_t> perm = r.ints("permY");
  r.out("out", perm.empty() ? y : r.transpose(y, perm));
}

// A product and one more operation.
void fused_product(Recipe& r) {
  bool turn_a = false, turn_b = false;
  const DType type = computed_in(r.dtype("y"));
  const Value a = r.cast(r.matrix("x1", turn_a), type), b = r.cast(r.matrix("x2", turn_b), type);
  Value y = r.op("FusedMatMul", {a, b}, {{"transA", turn_a}, {"transB", turn_b}});
  if (r.given("bias")) y = r.op("Add", {y, r.cast(r.in("bias"), type)});
  const std::string op = r.text("fusedOpType");
  if (op == "add")
    y = r.op("Add", {y, r.cast(r.in("x3"), type)});
  else if (op == "mul")
    y = r.op("Mul", {y, r.cast(r.in("x3"), type)});
  else if (op == "relu")
    y = r.op("Relu", {y});
  else if (op == "gelu_tanh")
    y = r.op("Gelu", {y}, {{"approximate", "tanh"}});
  else if (op == "gelu_erf")
    y = r.op("Gelu", {y});
  else if (!op.empty() && op != "16cast32") {
    refuse("fusedOpType is '{}'; expected add, mul, relu, gelu_tanh, gelu_erf, 16cast32 or nothing",
           op);
  }
  r.out("y", y);
}

// A weight that the program will call FRACTAL_NZ from now on. That order is private to the
// operators that read it: it stays as it lies.
void keep_weight(Recipe& r) {
  const size_t rank = r.rank("mmWeightRef");
  if (rank < 2 || rank > 6) refuse("mmWeightRef has {} axes; expected 2 to 6", rank);
}

const Row kRows[] = {
    {"aclnnInplaceScatterUpdate", update_cache},
    {"aclnnScatterList", update_list},
    {"aclnnAdvanceStep", advance},
    {"aclnnScaledMaskedSoftmax", masked_softmax},
    {"aclnnScaledMaskedSoftmaxBackward", masked_softmax_gradient},
    {"aclnnTransformBiasRescaleQkv", split_heads},
    {"aclnnGroupedBiasAddGrad", group_sums},
    {"aclnnGroupedBiasAddGradV2", group_sums},
    {"aclnnTransposeBatchMatMul", turned_product},
    {"aclnnTransposeBatchMatMulWeightNz", turned_product},
    {"aclnnFusedMatmul", fused_product},
    {"aclnnTransMatmulWeight", keep_weight},
};

}  // namespace

std::span<const Row> serving_rows() { return kRows; }

}  // namespace anynpu::aclnn
