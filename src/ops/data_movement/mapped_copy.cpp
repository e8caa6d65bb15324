// SPDX-License-Identifier: Apache-2.0
#include "ops/data_movement/mapped_copy.h"

#include <algorithm>
#include <cstring>

#include "ops/data_movement/element_size.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops {

namespace {

// Indices of the last axis that are made the same way.
struct Piece {
  enum class How : uint8_t { fill, straight, chosen };
  How how = How::fill;
  int64_t begin = 0, end = 0;
};

std::vector<Piece> pieces_of(const std::vector<int64_t>& map) {
  constexpr int64_t kWorthwhile = 8;  // elements that are copied as one
  const auto size = static_cast<int64_t>(map.size());
  const auto at = [&](int64_t i) { return map[static_cast<size_t>(i)]; };
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < size;) {
    int64_t end = i + 1;
    Piece::How how = Piece::How::fill;
    if (at(i) < 0) {
      while (end < size && at(end) < 0) ++end;
    } else {
      while (end < size && at(end) == at(end - 1) + 1) ++end;
      how = end - i >= kWorthwhile ? Piece::How::straight : Piece::How::chosen;
    }
    const bool joins = how == Piece::How::chosen && !pieces.empty() && pieces.back().how == how;
    if (joins) {
      pieces.back().end = end;
    } else {
      pieces.push_back({how, i, end});
    }
    i = end;
  }
  return pieces;
}

template <typename T>
void copy_row(const std::vector<Piece>& pieces, const std::vector<int64_t>& map, const T* x,
              const T& value, T* y) {
  for (const Piece& piece : pieces) {
    switch (piece.how) {
      case Piece::How::fill:
        std::fill(y + piece.begin, y + piece.end, value);
        break;
      case Piece::How::straight:
        std::copy_n(x + map[static_cast<size_t>(piece.begin)], piece.end - piece.begin,
                    y + piece.begin);
        break;
      case Piece::How::chosen:
        for (int64_t i = piece.begin; i < piece.end; ++i) y[i] = x[map[static_cast<size_t>(i)]];
        break;
    }
  }
}

template <typename T>
std::unique_ptr<KernelPlan> plan_copy(Shape out, std::shared_ptr<const AxisMaps> shared,
                                      Fill fill) {
  const int64_t inner = out.back(), rows = inner == 0 ? 0 : element_count(out) / inner;
  const auto least = static_cast<size_t>(8192 / std::max<int64_t>(inner, 1));
  return make_plan([=, out = std::move(out), pieces = pieces_of(shared->back()),
                    shared = std::move(shared), fill = std::move(fill)](const RunArgs& args) {
    const AxisMaps& maps = *shared;
    T value;
    std::memcpy(&value,
                fill.input < 0 ? fill.bytes.data() : args.inputs[static_cast<size_t>(fill.input)],
                sizeof value);
    parallel(static_cast<size_t>(rows), least, [&](size_t begin, size_t end) {
      const T* before = nullptr;  // what the row before was copied from, if it was
      bool copied = false;
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        const T* x = input_of<T>(args, 0);
        bool inside = true;
        int64_t index = row;
        for (size_t d = out.size() - 1; d-- > 0; index /= out[d]) {
          const int64_t at = maps[d][static_cast<size_t>(index % out[d])];
          inside = inside && at >= 0;
          x += std::max<int64_t>(at, 0);
        }
        T* y = output_of<T>(args, 0) + row * inner;
        if (!inside) {
          std::fill(y, y + inner, value);
        } else if (copied && x == before) {
          std::copy_n(y - inner, inner, y);
        } else {
          copy_row(pieces, maps.back(), x, value, y);
        }
        before = x;
        copied = inside;
      }
    });
  });
}

struct MappedCopyOnHost final : MappedCopy {
  Status run(const RunArgs& args) const override { return work->run(args); }
  std::unique_ptr<KernelPlan> work;
};

}  // namespace

std::unique_ptr<KernelPlan> plan_mapped_copy(Shape out, AxisMaps maps, size_t element_bytes,
                                             Fill fill) {
  if (out.empty()) out = {1}, maps = {{0}};
  auto plan = std::make_unique<MappedCopyOnHost>();
  plan->maps = std::make_shared<const AxisMaps>(std::move(maps));
  plan->work = visit_size(element_bytes, [&](auto element) {
    return plan_copy<decltype(element)>(out, plan->maps, fill);
  });
  plan->out = std::move(out);
  plan->element_bytes = element_bytes;
  plan->fill = std::move(fill);
  return plan;
}

}  // namespace anynpu::ops
