// SPDX-License-Identifier: Apache-2.0
// The reduction engine: passes the input elements of each output element to a function, in wide
// blocks and in a fixed order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/align.h"
#include "ops/data_movement/axes.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::reduce {

struct ReduceWalk {
  std::vector<int64_t> kept, kept_stride;        // dimensions of the output, outermost first
  std::vector<int64_t> reduced, reduced_stride;  // dimensions summed over, neighbours joined
  int64_t outputs = 1;
  int64_t length = 1;  // elements per output

  int64_t base(int64_t output) const;
  // Offset of element `at` of a group, and how many follow it `step` apart.
  void run(int64_t at, int64_t& offset, int64_t& step, int64_t& count) const;
};

// `reduce[i]`: dimension i of `shape` is reduced.
ReduceWalk reduce_walk(const Shape& shape, const std::vector<bool>& reduce);

// Every group in `pieces` parts of nearly the same length: body(part, next), part counting over all
// groups, where next(block) fills a block and returns its length, 0 at the end.
template <typename W, typename Body>
void for_each_part(const ReduceWalk& walk, int64_t pieces, LoadBlock<W> load, const std::byte* x,
                   const Body& body) {
  const auto least =
      static_cast<size_t>(std::max<int64_t>(1, 4096 / std::max<int64_t>(1, walk.length / pieces)));
  parallel(static_cast<size_t>(walk.outputs * pieces), least, [&](size_t begin, size_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
      const int64_t base = walk.base(i / pieces), piece = i % pieces;
      int64_t at = walk.length * piece / pieces;
      const int64_t last = walk.length * (piece + 1) / pieces;
      body(i, [&](W* block) -> int64_t {
        if (at >= last) return 0;
        int64_t offset = 0, step = 0, count = 0;
        walk.run(at, offset, step, count);
        count = std::min({count, kBlockLength, last - at});
        load(x, base + offset, step, block, count);
        at += count;
        return count;
      });
    }
  });
}

// If the innermost dimension is kept, neighbouring outputs are processed in tiles: reading a column
// for each of them would miss the cache at every step.
constexpr int64_t kLeastTile = 32;

inline bool has_tiles(const ReduceWalk& walk) {
  return !walk.kept.empty() && walk.kept_stride.back() == 1 && walk.kept.back() >= kLeastTile / 4;
}

// body(first output, count, next) where next(block) fills `count` elements, one of each group, and
// returns false at the end.
template <typename W, typename Body>
void for_each_tile(const ReduceWalk& walk, LoadBlock<W> load, const std::byte* x,
                   const Body& body) {
  const int64_t inner = walk.kept.back(), wide = std::clamp(inner / 4, kLeastTile, kBlockLength);
  const int64_t tiles = ceil_div(inner, wide), work = std::max<int64_t>(1, walk.length * wide);
  const auto least = static_cast<size_t>(std::max<int64_t>(1, 4096 / work));
  parallel(static_cast<size_t>(walk.outputs / std::max<int64_t>(1, inner) * tiles), least,
           [&](size_t begin, size_t end) {
             for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
               const int64_t first = i / tiles * inner + i % tiles * wide;
               const int64_t count = std::min(wide, inner - i % tiles * wide);
               const int64_t base = walk.base(first);
               int64_t at = 0, offset = 0, step = 0, left = 0;
               body(first, count, [&](W* block) {
                 if (at >= walk.length) return false;
                 if (left == 0) walk.run(at, offset, step, left);
                 load(x, base + offset, 1, block, count);
                 offset += step;
                 ++at, --left;
                 return true;
               });
             }
           });
}

// body(output, next) for every group as a whole.
template <typename W, typename Body>
void for_each_group(const ReduceWalk& walk, LoadBlock<W> load, const std::byte* x,
                    const Body& body) {
  for_each_part(walk, 1, load, x, body);
}

// Axes from the attribute or from input 1 of newer opsets; an empty list means all, or none with
// noop_with_empty_axes. `known` false: they are computed at run time.
struct ReduceAxes {
  bool known = true;
  std::vector<bool> reduce;
};
Result<ReduceAxes> reduce_axes(const OpContext& context);

}  // namespace anynpu::ops::reduce
