// SPDX-License-Identifier: Apache-2.0
// Elements and rows by index; embeddings and their gradients.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

void embedding(Recipe& r) {
  r.out("out",
        r.op("Gather", {r.in("weight"), r.cast(r.in("indices"), DType::i64)}, {{"axis", 0}}));
}

// Sums of the gradients of equal indices; rows of the padding index get nothing.
void embedding_backward(Recipe& r) {
  const DType type = computed_in(r.dtype("grad"));
  const int64_t rows = r.integer("numWeights"), padding = r.integer("paddingIdx");
  const int64_t count = r.tensor("indices").count();
  const Shape out = r.shape("out");
  if (out.size() != 2) refuse("out has {} axes; expected numWeights x size", out.size());
  const Value index = r.reshape(r.cast(r.in("indices"), DType::i64), {count, 1});
  Value grad = r.reshape(r.cast(r.in("grad"), type), {count, out[1]});
  const Value one = r.constant(type, 1), zero = r.constant(type, 0);
  if (padding >= 0 && padding < rows) {
    const Value hit = r.op("Equal", {index, r.constant(DType::i64, static_cast<double>(padding))});
    grad = r.op("Where", {hit, zero, grad});
  }
  if (r.flag("scaleGradByFreq")) {
    const Value counts =
        r.op("ScatterND", {r.filled(type, {rows}, 0), index, r.expand(one, {count})},
             {{"reduction", "add"}});
    grad = r.op("Div", {grad, r.reshape(r.op("GatherND", {counts, index}), {count, 1})});
  }
  r.out("out", r.op("ScatterND", {r.filled(type, {rows, out[1]}, 0), index, grad},
                    {{"reduction", "add"}}));
}

// self[..., index, ...] along an axis.
void index_select(Recipe& r) {
  Value x = r.in("self");
  if (r.rank("self") == 0) x = r.reshape(x, {1});
  const Value y = r.op("Gather", {x, r.cast(r.in("index"), DType::i64)},
                       {{"axis", r.axis("dim", r.rank("self"))}});
  r.out("out", r.reshape(y, r.shape("out")));
}

void gather(Recipe& r) {
  if (r.tensor("index").count() == 0)
    return r.out("out", r.filled(r.dtype("out"), r.shape("out"), 0));
  Value x = r.in("self"), index = r.cast(r.in("index"), DType::i64);
  if (r.rank("self") == 0) x = r.reshape(x, {1});
  if (r.rank("index") == 0) index = r.reshape(index, {1});
  const Value y = r.op("GatherElements", {x, index}, {{"axis", r.axis("dim", r.rank("self"))}});
  r.out("out", r.reshape(y, r.shape("out")));
}

void masked_select(Recipe& r) {
  const Value x = r.in("self"), mask = r.cast(r.in("mask"), DType::boolean);
  // Both as wide as their common shape.
  const Value any = r.op("Where", {mask, x, r.constant(r.dtype("self"), 0)});
  const Shape shape = r.shape(any);
  const int64_t count = element_count(shape);
  r.out("out",
        r.op("Compress",
             {r.reshape(r.expand(x, shape), {count}), r.reshape(r.expand(mask, shape), {count})},
             {{"axis", 0}}));
}

// Coordinates of elements that are not zero, a row each.
void nonzero(Recipe& r) {
  const Value x = r.in("self");
  const Value places = r.op("NonZero", {r.cast(x, DType::boolean)});
  r.out("out", r.row().number ? places : r.transpose(places, {1, 0}));
}

const Row kRows[] = {
    {"aclnnEmbedding", embedding},
    {"aclnnEmbeddingDenseBackward", embedding_backward},
    {"aclnnIndexSelect", index_select},
    {"aclnnGatherV2", index_select},
    {"aclnnGather", gather},
    {"aclnnMaskedSelect", masked_select},
    {"aclnnNonzero", nonzero},
    {"aclnnNonzeroV2", nonzero, "", false, 1},
};

}  // namespace

std::span<const Row> index_rows() { return kRows; }

}  // namespace anynpu::aclnn
