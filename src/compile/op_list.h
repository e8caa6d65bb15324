// SPDX-License-Identifier: Apache-2.0
// Lists of operators by name, as passes have them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace anynpu::compile {

template <size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

}  // namespace anynpu::compile
