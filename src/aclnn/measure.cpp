// SPDX-License-Identifier: Apache-2.0
// Distances, norms of parts, counts of values.
#include <algorithm>
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace measure {

namespace {

DType wide(DType type) { return computed_in(floating(type)); }

// The p-norm over the last axis.
Value norm(Recipe& r, Value x, double p) {
  const DType type = r.dtype(x);
  const auto axis = static_cast<int64_t>(r.shape(x).size()) - 1;
  const Value axes = r.constant({axis});
  const auto reduced = [&](const char* op, Value y) {
    return r.op(op, {y, axes}, {{"keepdims", 0}});
  };
  const Value size = r.op("Abs", {x});
  if (p == 0) return reduced("ReduceSum", r.op("Sign", {size}));
  if (p == 1) return reduced("ReduceSum", size);
  if (p == 2) return r.op("Sqrt", {reduced("ReduceSum", r.op("Mul", {x, x}))});
  if (std::isinf(p)) return reduced(p > 0 ? "ReduceMax" : "ReduceMin", size);
  const Value sum = reduced("ReduceSum", r.op("Pow", {size, r.constant(type, p)}));
  return r.op("Pow", {sum, r.constant(type, 1 / p)});
}

// Between each row of x1 and each row of x2.
void cdist(Recipe& r) {
  const DType type = wide(r.dtype("x1"));
  Shape a = r.shape("x1"), b = r.shape("x2");
  if (a.size() < 2 || b.size() < 2) {
    refuse("x1 is {} and x2 is {}; expected matrices, or stacks of them", to_string(a),
           to_string(b));
  }
  if (r.tensor("out").count() == 0) return;
  if (a.back() == 0) return r.out("out", r.filled(type, r.shape("out"), 0));
  a.insert(a.end() - 1, 1);
  b.insert(b.end() - 2, 1);
  const Value gap =
      r.op("Sub", {r.reshape(r.cast(r.in("x1"), type), a), r.reshape(r.cast(r.in("x2"), type), b)});
  r.out("out", norm(r, gap, r.real("p")));
}
// Between each pair of different rows.
void pdist_of(Recipe& r, double p) {
  const DType type = wide(r.dtype("self"));
  const int64_t rows = r.shape("self")[0];
  constexpr int64_t kMostRows = 8192;  // 33 million pairs
  if (r.rank("self") != 2 || rows > kMostRows) {
    refuse("self is {}; expected a matrix of at most {} rows", to_string(r.shape("self")),
           kMostRows);
  }
  Ints first, second;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i + 1; j < rows; ++j) first.push_back(i), second.push_back(j);
  }
  if (first.empty()) return;
  if (r.shape("self")[1] == 0) return r.out("out", r.filled(type, r.shape("out"), 0));
  const Value x = r.cast(r.in("self"), type);
  const Value gap = r.op("Sub", {r.op("Gather", {x, r.constant(first)}, {{"axis", 0}}),
                                 r.op("Gather", {x, r.constant(second)}, {{"axis", 0}})});
  r.out("out", norm(r, gap, p));
}
void pdist(Recipe& r) { pdist_of(r, r.real("p")); }
void pdist_forward(Recipe& r) { pdist_of(r, r.scalar("pScalar").real()); }

// Parts along an axis whose norm is larger than maxNorm become that long.
void renorm(Recipe& r) {
  const DType type = wide(r.dtype("self"));
  const Shape shape = r.shape("self");
  const int64_t dim = r.axis("dim", shape.size());
  Ints order{dim};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<int64_t>(i) != dim) order.push_back(static_cast<int64_t>(i));
  }
  const int64_t parts = shape[static_cast<size_t>(dim)];
  const int64_t each = parts ? r.tensor("self").count() / parts : 0;
  if (each == 0) return;
  const Value x = r.cast(r.in("self"), type);
  const Value length =
      norm(r, r.reshape(r.transpose(x, order), {parts, each}), r.scalar("p").real());
  const Value most = r.constant(type, r.scalar("maxNorm").real());
  const Value shrunk = r.op("Div", {most, r.op("Add", {length, r.constant(type, 1e-7)})});
  const Value factor =
      r.op("Where", {r.op("Greater", {length, most}), shrunk, r.constant(type, 1)});
  Shape beside(shape.size(), 1);
  beside[static_cast<size_t>(dim)] = parts;
  r.out("out", r.op("Mul", {x, r.reshape(factor, beside)}));
}

Value flat(Recipe& r, Value x) {
  int64_t count = 1;
  for (int64_t extent : r.shape(x)) count *= extent;
  return r.reshape(x, {count});
}

// How often each number from 0 on occurs, or the sum of its weights.
void bincount(Recipe& r) {
  const DType type = r.dtype("out");
  const Value zeros = r.filled(computed_in(type), r.shape("out"), 0);
  if (r.tensor("self").count() == 0) return r.out("out", zeros);
  const Value places = flat(r, r.cast(r.in("self"), DType::i64));
  const Value weights = r.given("weights") ? flat(r, r.cast(r.in("weights"), r.dtype(zeros)))
                                           : r.filled(r.dtype(zeros), r.shape(places), 1);
  r.out("out",
        r.op("ScatterElements", {zeros, places, weights}, {{"axis", 0}, {"reduction", "add"}}));
}

// Counts in bins of equal width between min and max; both 0: those of the elements.
void histc(Recipe& r) {
  const DType type = wide(r.dtype("self"));
  const int64_t bins = r.integer("bins");
  const double low = r.scalar("min").real(), high = r.scalar("max").real();
  if (r.tensor("self").count() == 0) return r.out("out", r.filled(type, r.shape("out"), 0));
  const Value x = flat(r, r.cast(r.in("self"), type));
  Value from = r.constant(type, low), to = r.constant(type, high);
  if (low == high) {
    from = low == 0 ? r.op("ReduceMin", {x}, {{"keepdims", 0}}) : from;
    to = low == 0 ? r.op("ReduceMax", {x}, {{"keepdims", 0}}) : to;
    const Value same = r.op("Equal", {from, to}), one = r.constant(type, 1);
    const Value wider_from = r.op("Where", {same, r.op("Sub", {from, one}), from});
    to = r.op("Where", {same, r.op("Add", {to, one}), to});
    from = wider_from;
  }
  const Value inside =
      r.op("And", {r.op("GreaterOrEqual", {x, from}), r.op("LessOrEqual", {x, to})});
  const Value part = r.op("Div", {r.op("Sub", {x, from}), r.op("Sub", {to, from})});
  const Value bin =
      r.op("Floor", {r.op("Mul", {part, r.constant(type, static_cast<double>(bins))})});
  const Value zero = r.constant(type, 0);
  const Value place = r.op("Clip", {r.op("Where", {inside, bin, zero}), zero,
                                    r.constant(type, static_cast<double>(bins - 1))});
  r.out("out", r.op("ScatterElements",
                    {r.filled(type, {bins}, 0), r.cast(place, DType::i64), r.cast(inside, type)},
                    {{"axis", 0}, {"reduction", "add"}}));
}

// Rows of each chunk behind each other, padded with zeros.
void chunk_cat(Recipe& r) {
  const int64_t dim = r.integer("dim"), chunks = r.integer("numChunks");
  const DType type = r.dtype("out");
  if (chunks < 1) refuse("numChunks is {}; expected 1 or more", chunks);
  Values parts;
  for (size_t i = 0; i < r.length("tensors"); ++i) {
    Value x = r.cast(r.in("tensors", i), type);
    Shape shape = r.shape(x);
    const auto axis = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim);
    if (chunks > std::max<int64_t>(shape[axis], 1) * 65536) {
      refuse("numChunks is {}; tensor {} has {} rows", chunks, i, shape[axis]);
    }
    const int64_t each = (shape[axis] + chunks - 1) / chunks, missing = each * chunks - shape[axis];
    if (missing > 0) {
      Shape zeros = shape;
      zeros[axis] = missing;
      x = r.op("Concat", {x, r.filled(type, zeros, 0)}, {{"axis", static_cast<int64_t>(axis)}});
    }
    Shape split(shape.begin(), shape.begin() + static_cast<int64_t>(axis));
    int64_t rest = each;
    for (size_t k = axis + 1; k < shape.size(); ++k) rest *= shape[k];
    split.push_back(chunks);
    split.push_back(rest);
    parts.push_back(r.reshape(x, split));
  }
  const auto last = static_cast<int64_t>(r.shape(parts[0]).size()) - 1;
  r.out("out", r.reshape(r.op("Concat", parts, {{"axis", last}}), r.shape("out")));
}

const Row kRows[] = {
    {"aclnnCdist", cdist},   {"aclnnPdist", pdist},          {"aclnnPdistForward", pdist_forward},
    {"aclnnRenorm", renorm}, {"aclnnInplaceRenorm", renorm}, {"aclnnBincount", bincount},
    {"aclnnHistc", histc},   {"aclnnChunkCat", chunk_cat},
};

}  // namespace

}  // namespace measure

std::span<const Row> measure_rows() { return measure::kRows; }

}  // namespace anynpu::aclnn
