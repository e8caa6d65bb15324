// SPDX-License-Identifier: Apache-2.0
#include "ops/data_movement/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "ops/data_movement/element_size.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops {

namespace {

struct CopyLoop {
  std::vector<int64_t> extent, stride;  // outermost first
  int64_t offset = 0;
};

CopyLoop joined(const Shape& out, const std::vector<int64_t>& strides, int64_t offset) {
  CopyLoop loop;
  loop.offset = offset;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 1) continue;
    if (!loop.extent.empty() && loop.stride.back() == strides[i] * out[i]) {
      loop.extent.back() *= out[i];
      loop.stride.back() = strides[i];
    } else {
      loop.extent.push_back(out[i]);
      loop.stride.push_back(strides[i]);
    }
  }
  if (loop.extent.empty()) {
    loop.extent = {1};
    loop.stride = {1};
  }
  return loop;
}

template <typename T>
std::unique_ptr<KernelPlan> plan_copy(CopyLoop loop) {
  int64_t outer = 1;
  for (size_t i = 0; i + 1 < loop.extent.size(); ++i) outer *= loop.extent[i];
  const int64_t inner = loop.extent.back(), step = loop.stride.back();
  return make_plan([=](const RunArgs& args) {
    const auto least =
        static_cast<size_t>(std::max<int64_t>(1, 8192 / std::max<int64_t>(inner, 1)));
    parallel(static_cast<size_t>(outer), least, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        int64_t offset = loop.offset, index = i;
        for (size_t d = loop.extent.size() - 1; d-- > 0;) {
          offset += index % loop.extent[d] * loop.stride[d];
          index /= loop.extent[d];
        }
        const T* x = input_of<T>(args, 0) + offset;
        T* y = output_of<T>(args, 0) + i * inner;
        if (step == 1) {
          std::memcpy(y, x, static_cast<size_t>(inner) * sizeof(T));
        } else {
          for (int64_t j = 0; j < inner; ++j) y[j] = x[j * step];
        }
      }
    });
  });
}

struct StridedCopyOnHost final : StridedCopy {
  Status run(const RunArgs& args) const override { return work->run(args); }
  std::unique_ptr<KernelPlan> work;
};

}  // namespace

std::unique_ptr<KernelPlan> plan_strided_copy(const Shape& out, std::vector<int64_t> strides,
                                              int64_t offset, size_t element_bytes) {
  auto plan = std::make_unique<StridedCopyOnHost>();
  plan->work = element_count(out) == 0
                   ? make_plan([](const RunArgs&) {})
                   : visit_size(element_bytes, [&](auto element) {
                       return plan_copy<decltype(element)>(joined(out, strides, offset));
                     });
  plan->out = out;
  plan->strides = std::move(strides);
  plan->offset = offset;
  plan->element_bytes = element_bytes;
  return plan;
}

}  // namespace anynpu::ops
