// SPDX-License-Identifier: Apache-2.0
// The lowest or highest number of a type as a constant: what a maximum or minimum over nothing is.
// For the builders of importers, which have scalar(), whole() and node().
#pragma once

#include <limits>

#include "graph/graph.h"
#include "tensor/dtype.h"

namespace anynpu {

template <typename Builder>
graph::ValueId limit_of(Builder& b, DType type, bool lowest) {
  const int sign = lowest ? -1 : 1;
  switch (type) {
    case DType::f16:
      return b.scalar(type, sign * 65504.0);
    case DType::bf16:
      return b.scalar(type, sign * 3.3895313892515355e38);
    case DType::f32:
      return b.scalar(type, sign * static_cast<double>(std::numeric_limits<float>::max()));
    case DType::f64:
      return b.scalar(type, sign * std::numeric_limits<double>::max());
    default: {
      const size_t bits = 8 * size_of(type);
      const bool is_signed =
          type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
      if (!is_signed) {
        if (lowest) return b.whole(type, 0);
        return bits == 64 ? b.node("BitwiseNot", 18, {b.whole(type, 0)})
                          : b.whole(type, static_cast<int64_t>((uint64_t{1} << bits) - 1));
      }
      const auto most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
      return b.whole(type, lowest ? -most - 1 : most);
    }
  }
}

}  // namespace anynpu
