// SPDX-License-Identifier: Apache-2.0
// Results whose number comes from the run: sets along the last axis, as sparse tensors, and rows of
// different lengths.
#include <algorithm>
#include <numeric>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

// The column of a kept element is the number of kept ones before it in its row.
KeptElements kept_elements(Builder& b, ValueId kept) {
  KeptElements made;
  if (!b.has_rank(kept, "the elements", 1)) return made;
  const int64_t last = b.rank(kept) - 1;
  const ValueId ones = b.cast(kept, DType::i64);
  const ValueId column =
      b.node("CumSum", 14, {ones, b.whole(DType::i64, last)}, {{"exclusive", int64_t{1}}});
  made.places = b.transpose(b.node("NonZero", 13, {kept}), {1, 0});
  const ValueId columns = b.reshape(b.node("GatherND", 13, {column, made.places}), {-1, 1});
  const ValueId pairs =
      b.node("Concat", 13, {b.slice(made.places, 1, 0, last), columns}, {{"axis", int64_t{1}}});
  made.indices = b.reshape(pairs, {-1, last + 1});
  made.counts = b.node("ReduceSum", 13, {ones, b.list({last})}, {{"keepdims", int64_t{0}}});
  made.widest = b.reshape(b.node("ReduceMax", 18, {made.counts}, {{"keepdims", int64_t{1}}}), {1});
  return made;
}

// Each row is a set. The sorted elements of the first, or of both, stay where they are the first of
// their kind and the other set has them, or has them not.
void lower_set_operation(Builder& b) {
  const std::string what = b.word("set_operation", "a-b", {"a-b", "b-a", "intersection", "union"});
  ValueId x = b.in(0), other = b.in(1);
  if (what == "b-a") std::swap(x, other);
  if (!b.has_rank(x, "the sets", 2) || !b.need_fixed(x, "the sets") ||
      !b.has_rank(other, "the sets", b.rank(x), b.rank(x)) || !b.need_fixed(other, "the sets"))
    return;
  const DType type = b.dtype(x);
  const int64_t last = b.rank(x) - 1;
  const Shape rows(b.shape(x).begin(), b.shape(x).end() - 1);
  x = b.index(x);
  other = b.index(other);
  if (what == "union") x = b.node("Concat", 13, {x, other}, {{"axis", last}});
  if (!b.ok()) return;
  const int64_t count = b.shape(x).back();
  const ValueId sorted =
      b.nodes("TopK", 11, {x, b.list({count})}, 2, {{"axis", last}, {"largest", int64_t{0}}})[0];
  Shape column = rows;
  column.push_back(1);
  const ValueId same =
      b.node("Equal", 13, {b.slice(sorted, last, 1, count), b.slice(sorted, last, 0, count - 1)});
  ValueId kept =
      b.node("Concat", 13, {b.filled(DType::boolean, column, 1), b.node("Not", 1, {same})},
             {{"axis", last}});
  if (what != "union") {
    const ValueId equal =
        b.node("Equal", 13, {b.unsqueeze(sorted, {last + 1}), b.unsqueeze(other, {last})});
    const ValueId found =
        b.cast(b.node("ReduceMax", 18, {b.cast(equal, DType::i32), b.list({last + 1})},
                      {{"keepdims", int64_t{0}}}),
               DType::boolean);
    kept = b.node("And", 7, {kept, what == "intersection" ? found : b.node("Not", 1, {found})});
  }
  const KeptElements made = kept_elements(b, kept);
  if (!b.ok()) return;
  b.out(0, made.indices);
  b.out(1, b.reshape(b.cast(b.node("GatherND", 13, {sorted, made.places}), type), {-1}));
  b.out(2, b.node("Concat", 13, {b.list(rows), made.widest}, {{"axis", int64_t{0}}}));
}

// Numbers from start to limit in each row; rows lie behind each other, `splits` tells where they
// begin.
void lower_ragged_range(Builder& b) {
  const DType type = b.dtype(b.in(0)), splits = b.type("Tsplits", DType::i64);
  int64_t rows = 1;
  for (size_t i = 0; i < 3; ++i) {
    const ValueId id = b.in(i);
    if (!b.has_rank(id, "the numbers", 0, 1) || !b.need_fixed(id, "the numbers")) return;
    if (b.rank(id) == 1) rows = std::max(rows, b.shape(id)[0]);
  }
  const auto row = [&](size_t input) {
    return b.node("Expand", 13, {b.in(input), b.list({rows})});
  };
  const ValueId start = row(0), limit = row(1), step = row(2);
  const ValueId span = div(b, b.cast(sub(b, limit, start), DType::f64), b.cast(step, DType::f64));
  const ValueId least = b.scalar(DType::f64, 0);
  const ValueId counts = b.cast(b.node("Max", 13, {b.node("Ceil", 13, {span}), least}), DType::i64);
  const ValueId ends = b.node("CumSum", 14, {counts, b.whole(DType::i64, 0)});
  const ValueId most = b.reshape(b.node("ReduceMax", 18, {counts}, {{"keepdims", int64_t{1}}}), {});
  const ValueId numbers =
      b.node("Range", 11, {b.whole(DType::i64, 0), most, b.whole(DType::i64, 1)});
  const ValueId inside = b.node("Less", 13, {b.unsqueeze(numbers, {0}), b.unsqueeze(counts, {1})});
  const ValueId all = add(b, b.unsqueeze(start, {1}),
                          mul(b, b.unsqueeze(b.cast(numbers, type), {0}), b.unsqueeze(step, {1})));
  const ValueId places = b.transpose(b.node("NonZero", 13, {inside}), {1, 0});
  b.out(0, b.cast(b.node("Concat", 13, {b.list({0}), ends}, {{"axis", int64_t{0}}}), splits));
  b.out(1, b.reshape(b.node("GatherND", 13, {all, places}), {-1}));
}

}  // namespace anynpu::tensorflow
