// SPDX-License-Identifier: Apache-2.0
#include "ops/broadcast.h"

#include <algorithm>

namespace anynpu::ops {

namespace {

int64_t extent_from_end(const Shape& shape, size_t from_end) {
  return from_end < shape.size() ? shape[shape.size() - 1 - from_end] : 1;
}

}  // namespace

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = extent_from_end(a, i), y = extent_from_end(b, i);
    int64_t& z = out[out.size() - 1 - i];
    if (x == y || y == 1) {
      z = x;
    } else if (x == 1) {
      z = y;
    } else if (x == kDynamicDim || y == kDynamicDim) {
      z = std::max(x, y);  // an extent over 1 decides; the other is checked at run time
    } else {
      return fail(Code::shape_mismatch,
                  "shapes {} and {} cannot be broadcast, extents {} and {} differ and are not 1; "
                  "check the shapes of the inputs",
                  to_string(a), to_string(b), x, y);
    }
  }
  return out;
}

BroadcastLoop broadcast_loop(const Shape& a, const Shape& b, const Shape& out) {
  BroadcastLoop loop;
  const auto strides_a = strides_of(a), strides_b = strides_of(b);
  for (size_t i = out.size(); i-- > 0;) {  // outermost first
    if (out[out.size() - 1 - i] == 1) continue;
    const int64_t sa = extent_from_end(a, i) == 1 ? 0 : strides_a[a.size() - 1 - i];
    const int64_t sb = extent_from_end(b, i) == 1 ? 0 : strides_b[b.size() - 1 - i];
    const int64_t extent = out[out.size() - 1 - i];
    // Join with the dimension before when it continues both walks.
    if (!loop.extent.empty() && loop.stride_a.back() == sa * extent &&
        loop.stride_b.back() == sb * extent) {
      loop.extent.back() *= extent;
      loop.stride_a.back() = sa;
      loop.stride_b.back() = sb;
    } else {
      loop.extent.push_back(extent);
      loop.stride_a.push_back(sa);
      loop.stride_b.push_back(sb);
    }
  }
  if (loop.extent.empty()) {
    loop.extent = {1};
    loop.stride_a = loop.stride_b = {1};
  }
  for (size_t i = 0; i + 1 < loop.extent.size(); ++i) loop.outer *= loop.extent[i];
  loop.inner = loop.extent.back();
  loop.inner_a = loop.stride_a.back();
  loop.inner_b = loop.stride_b.back();
  return loop;
}

void BroadcastLoop::offsets(int64_t index, int64_t& a, int64_t& b) const {
  a = b = 0;
  for (size_t i = extent.size() - 1; i-- > 0;) {
    const int64_t at = index % extent[i];
    index /= extent[i];
    a += at * stride_a[i];
    b += at * stride_b[i];
  }
}

}  // namespace anynpu::ops
