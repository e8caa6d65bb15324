// SPDX-License-Identifier: Apache-2.0
#include "ops/data_movement/strided_move.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ops/data_movement/element_size.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops {

namespace {

struct Axis {
  int64_t extent, from, to;
};

struct MoveLoop {
  std::vector<Axis> outer;  // outermost first
  Axis rows{1, 0, 0};       // the axis along which the source is dense, when it is not `inner`
  Axis inner{1, 1, 1};      // the densest of the target
  int64_t from_offset = 0, to_offset = 0, count = 1;
};

MoveLoop loop_of(const Shape& shape, const StridedSide& from, const StridedSide& to) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) axes.push_back({shape[i], from.strides[i], to.strides[i]});
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
  MoveLoop loop;
  loop.from_offset = from.offset;
  loop.to_offset = to.offset;
  std::vector<Axis> joined;
  for (const Axis& axis : axes) {
    loop.count *= axis.extent;
    if (!joined.empty() && joined.back().from == axis.from * axis.extent &&
        joined.back().to == axis.to * axis.extent) {
      joined.back() = {joined.back().extent * axis.extent, axis.from, axis.to};
    } else {
      joined.push_back(axis);
    }
  }
  if (joined.empty()) return loop;
  loop.inner = joined.back();
  joined.pop_back();
  // The source's densest axis, where it is another one.
  auto dense = joined.end();
  for (auto axis = joined.begin(); axis != joined.end(); ++axis) {
    if (axis->from != 0 && std::abs(axis->from) < std::abs(loop.inner.from) &&
        (dense == joined.end() || std::abs(axis->from) < std::abs(dense->from)))
      dense = axis;
  }
  if (dense != joined.end()) {
    loop.rows = *dense;
    joined.erase(dense);
  }
  loop.outer = std::move(joined);
  return loop;
}

template <typename T>
void move_row(const T* x, T* y, const Axis& axis, int64_t begin, int64_t end) {
  x += begin * axis.from;
  y += begin * axis.to;
  const int64_t count = end - begin;
  if (axis.from == 1 && axis.to == 1) {
    std::memmove(y, x, static_cast<size_t>(count) * sizeof(T));
  } else if (axis.to == 1 && axis.from == 0) {
    std::fill_n(y, count, *x);
  } else if (axis.to == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[i * axis.from];
  } else {
    for (int64_t i = 0; i < count; ++i) y[i * axis.to] = x[i * axis.from];
  }
}

constexpr int64_t kSquare = 32;

// The rows and columns [begin, end) of one pair of axes, in squares.
template <typename T>
void move_square(const T* x, T* y, const MoveLoop& loop, int64_t row) {
  const int64_t last = std::min(row + kSquare, loop.rows.extent);
  for (int64_t column = 0; column < loop.inner.extent; column += kSquare) {
    const int64_t end = std::min(column + kSquare, loop.inner.extent);
    for (int64_t r = row; r < last; ++r)
      move_row(x + r * loop.rows.from, y + r * loop.rows.to, loop.inner, column, end);
  }
}

template <typename T>
std::unique_ptr<KernelPlan> plan_move(MoveLoop loop) {
  int64_t outer = 1;
  for (const Axis& axis : loop.outer) outer *= axis.extent;
  const bool squares = loop.rows.extent > 1;
  // Work is cut along the outer axes, then along the rows of a pair, then along the inner axis.
  const int64_t pieces = squares      ? (loop.rows.extent + kSquare - 1) / kSquare
                         : outer == 1 ? (loop.inner.extent + 16383) / 16384
                                      : 1;
  const int64_t each = std::max<int64_t>(loop.count / std::max<int64_t>(outer * pieces, 1), 1);
  const auto least = static_cast<size_t>(std::max<int64_t>(1, 16384 / each));
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(outer * pieces), least, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        int64_t from = loop.from_offset, to = loop.to_offset, index = i / pieces;
        for (size_t d = loop.outer.size(); d-- > 0;) {
          const int64_t at = index % loop.outer[d].extent;
          from += at * loop.outer[d].from;
          to += at * loop.outer[d].to;
          index /= loop.outer[d].extent;
        }
        const T* x = input_of<T>(args, 0) + from;
        T* y = output_of<T>(args, 0) + to;
        const int64_t piece = i % pieces;
        if (squares) {
          move_square(x, y, loop, piece * kSquare);
        } else {
          const int64_t length = (loop.inner.extent + pieces - 1) / pieces;
          move_row(x, y, loop.inner, piece * length,
                   std::min((piece + 1) * length, loop.inner.extent));
        }
      }
    });
  });
}

}  // namespace

std::unique_ptr<KernelPlan> plan_strided_move(const Shape& shape, const StridedSide& from,
                                              const StridedSide& to, size_t element_bytes) {
  if (element_count(shape) == 0) return make_plan([](const RunArgs&) {});
  MoveLoop loop = loop_of(shape, from, to);
  return visit_size(element_bytes,
                    [&](auto element) { return plan_move<decltype(element)>(std::move(loop)); });
}

}  // namespace anynpu::ops
