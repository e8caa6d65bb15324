// SPDX-License-Identifier: Apache-2.0
// Elements that are only copied: a C++ type of their size.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anynpu::ops {

struct Wide16 {
  uint64_t parts[2];
};

// f(T{}) with a type of `bytes`: 1, 2, 4, 8 or 16.
template <typename F>
auto visit_size(size_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Wide16{});
  }
}

}  // namespace anynpu::ops
