// SPDX-License-Identifier: Apache-2.0
// UniqueNames: a name that is taken gets a number appended. The number continues from
// the last one used for that name, so that a file full of one name costs no more than
// others.
#pragma once

#include <string>
#include <unordered_map>

#include "base/format.h"

namespace anynpu::graph {

class UniqueNames {
 public:
  // `first`: the number that the second of a name gets.
  explicit UniqueNames(int first) : first_(first) {}

  size_t size() const { return next_.size(); }

  // Marks `name` as taken.
  void add(const std::string& name) { next_.try_emplace(name, first_); }

  // `wanted`, or `wanted`_2 ...
  std::string take(const std::string& wanted) {
    const auto [found, fresh] = next_.try_emplace(wanted, first_);
    if (fresh) return wanted;
    int& number = found->second;  // stays where it is while the map grows
    for (;;) {
      std::string name = format("{}_{}", wanted, number++);
      if (next_.try_emplace(name, first_).second) return name;
    }
  }

 private:
  int first_;
  std::unordered_map<std::string, int> next_;  // what the next of that name tries
};

}  // namespace anynpu::graph
