// SPDX-License-Identifier: Apache-2.0
#include "ops/move/mapped_copy.h"

#include <algorithm>
#include <cstring>

#include "ops/move/element_size.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops {

namespace {

template <typename T>
std::unique_ptr<KernelPlan> plan_copy(Shape out, AxisMaps maps, Fill fill) {
  const int64_t inner = out.back(), rows = inner == 0 ? 0 : element_count(out) / inner;
  const auto least = static_cast<size_t>(8192 / std::max<int64_t>(inner, 1));
  return make_plan([=, out = std::move(out), maps = std::move(maps),
                    fill = std::move(fill)](const RunArgs& args) {
    T value;
    std::memcpy(&value,
                fill.input < 0 ? fill.bytes.data() : args.inputs[static_cast<size_t>(fill.input)],
                sizeof value);
    const std::vector<int64_t>& last = maps.back();
    parallel(static_cast<size_t>(rows), least, [&](size_t begin, size_t end) {
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
          continue;
        }
        for (size_t i = 0; i < last.size(); ++i) y[i] = last[i] < 0 ? value : x[last[i]];
      }
    });
  });
}

}  // namespace

std::unique_ptr<KernelPlan> plan_mapped_copy(Shape out, AxisMaps maps, size_t element_bytes,
                                             Fill fill) {
  if (out.empty()) out = {1}, maps = {{0}};
  return visit_size(element_bytes, [&](auto element) {
    return plan_copy<decltype(element)>(std::move(out), std::move(maps), std::move(fill));
  });
}

}  // namespace anynpu::ops
