// SPDX-License-Identifier: Apache-2.0
// For "did you mean": the known name that is most similar to a misspelt one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace anynpu {

// The number of characters to add, remove or replace to get from one to the other.
size_t edit_distance(std::string_view a, std::string_view b);

// Empty when none is near: at most two mistakes, or one in three characters.
template <typename Names>
std::string_view nearest_name(const Names& names, std::string_view name) {
  std::string_view best;
  size_t distance = std::max<size_t>(2, name.size() / 3) + 1;
  if (name.size() > 64) return best;
  for (const std::string_view known : names) {
    const size_t d = edit_distance(known, name);
    if (d < distance) distance = d, best = known;
  }
  return best;
}

}  // namespace anynpu
