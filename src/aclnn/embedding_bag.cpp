// SPDX-License-Identifier: Apache-2.0
// Sums, means and largest elements of rows of a table, bag by bag. `offsets` says where each bag
// begins among the indices.
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace embedding_bag {

namespace {

enum Mode : int64_t { kSum, kMean, kMax };

void bags(Recipe& r) {
  const DType type = computed_in(r.dtype("weight"));
  const int64_t mode = r.integer("mode"), width = r.shape("weight")[1];
  const int64_t bags = r.shape("output")[0], count = r.tensor("indices").count();
  if (mode < kSum || mode > kMax) refuse("mode is {}; expected 0 (sum), 1 (mean) or 2 (max)", mode);
  const Value zeros = r.filled(type, {bags, width}, 0);
  if (count == 0) {
    r.out("output", zeros);
    if (r.tensor("bagSize").count()) r.out("bagSize", r.filled(DType::i64, r.shape("bagSize"), 0));
    return;
  }
  const Value indices = r.reshape(r.cast(r.in("indices"), DType::i64), {count});
  Value offsets = r.reshape(r.cast(r.in("offsets"), DType::i64), {r.tensor("offsets").count()});
  if (r.flag("includeLastOffset")) offsets = r.slice(offsets, 0, 0, bags);
  const Value each =
      r.op("Range", {r.constant(DType::i64, 0), r.constant(DType::i64, static_cast<double>(count)),
                     r.constant(DType::i64, 1)});
  const Value one = r.constant(DType::i64, 1);
  const Value bag = r.op("Sub", {r.op("SearchSorted", {offsets, each}, {{"right", 1}}), one});
  const int64_t padding = r.integer("paddingIdx");
  const Value counted =
      r.op("Not", {r.op("Equal", {indices, r.constant(DType::i64, static_cast<double>(padding))})});
  const Value places = r.expand(r.reshape(bag, {count, 1}), {count, width});
  Value rows = r.op("Gather", {r.cast(r.in("weight"), type), indices}, {{"axis", 0}});
  if (r.given("perSampleWeights")) {
    rows = r.op("Mul", {rows, r.reshape(r.cast(r.in("perSampleWeights"), type), {count, 1})});
  }
  const Value sizes =
      r.op("ScatterElements", {r.filled(DType::i64, {bags}, 0), bag, r.cast(counted, DType::i64)},
           {{"axis", 0}, {"reduction", "add"}});
  const Value filled = r.op("Greater", {r.reshape(sizes, {bags, 1}), r.constant(DType::i64, 0)});
  const Value use = r.reshape(counted, {count, 1});
  Value result;
  if (mode == kMax) {
    const Value least = r.constant(type, -3.4e38);
    const Value kept = r.op("Where", {use, rows, least});
    const Value most =
        r.op("ScatterElements", {r.filled(type, {bags, width}, -3.4e38), places, kept},
             {{"axis", 0}, {"reduction", "max"}});
    result = r.op("Where", {filled, most, r.constant(type, 0)});
    if (r.given("maxIndices") && r.tensor("maxIndices").count() > 0) {
      const Value best = r.op("Gather", {result, bag}, {{"axis", 0}});
      const Value hit = r.op("And", {r.op("Equal", {best, kept}), use});
      const Value named =
          r.op("Where", {hit, r.expand(r.reshape(indices, {count, 1}), {count, width}),
                         r.constant(DType::i64, -1)});
      const Value chosen =
          r.op("ScatterElements", {r.filled(DType::i64, {bags, width}, -1), places, named},
               {{"axis", 0}, {"reduction", "max"}});
      r.out("maxIndices", r.op("Where", {filled, chosen, r.constant(DType::i64, 0)}));
    }
  } else {
    const Value kept = r.op("Where", {use, rows, r.constant(type, 0)});
    result = r.op("ScatterElements", {zeros, places, kept}, {{"axis", 0}, {"reduction", "add"}});
    if (mode == kMean) {
      result = r.op("Div", {result, r.cast(r.op("Max", {r.reshape(sizes, {bags, 1}), one}), type)});
    }
  }
  r.out("output", result);
  if (r.tensor("offset2bag").count() == count) r.out("offset2bag", bag);
  if (r.tensor("bagSize").count() == bags) r.out("bagSize", sizes);
}

// Rows that are used and longer than `maxNorm` are shortened to it, in place.
void renorm(Recipe& r) {
  const DType type = computed_in(r.dtype("selfRef"));
  const int64_t count = r.tensor("indices").count();
  const double p = r.real("normType");
  if (count == 0) return;
  if (r.rank("selfRef") != 2) {
    refuse("selfRef has the shape {}; expected [rows, width]", to_string(r.shape("selfRef")));
  }
  const Value table = r.cast(r.in("selfRef"), type);
  const Value at = r.reshape(r.cast(r.in("indices"), DType::i64), {count});
  const Value rows = r.op("Gather", {table, at}, {{"axis", 0}});
  const Value size = r.op("Abs", {rows}), axis = r.constant({1});
  Value norm;
  if (std::isinf(p)) {
    norm = r.op("ReduceMax", {size, axis}, {{"keepdims", 1}});
  } else {
    const Value sum =
        r.op("ReduceSum", {r.op("Pow", {size, r.constant(type, p)}), axis}, {{"keepdims", 1}});
    norm = r.op("Pow", {sum, r.constant(type, 1 / p)});
  }
  const Value most = r.number("maxNorm", type);
  const Value scale = r.op("Div", {most, r.op("Add", {norm, r.constant(type, 1e-7)})});
  const Value kept =
      r.op("Where", {r.op("Greater", {norm, most}), r.op("Mul", {rows, scale}), rows});
  r.out("selfRef", r.op("ScatterND", {table, r.reshape(at, {count, 1}), kept}));
}

const Row kRows[] = {
    {"aclnnEmbeddingBag", bags},
    {"aclnnEmbeddingRenorm", renorm},
};

}  // namespace

}  // namespace embedding_bag

std::span<const Row> embedding_bag_rows() { return embedding_bag::kRows; }

}  // namespace anynpu::aclnn
