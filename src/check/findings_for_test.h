// SPDX-License-Identifier: Apache-2.0
// For tests of this folder: the kinds of findings that came up since a moment, and calls of made-up
// functions. The checker is on only in a process that starts with ANYNPU_CHECK; check_test_main.cpp
// sees to that.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "check/call.h"

namespace anynpu::check {

class Findings {
 public:
  Findings() : seen_(read().size()) {}

  // The kinds of what was found since this object was made, in order. Failed calls of native code
  // are left out: whether they are findings is decided by `anynpu check`.
  std::vector<std::string> kinds() const {
    std::vector<std::string> found = all_kinds();
    std::erase(found, "ignored-error-in-native-code");
    return found;
  }
  std::vector<std::string> all_kinds() const {
    std::istringstream lines(read().substr(seen_));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("finding\t")) continue;
      const size_t kind = line.find('\t', 8) + 1;
      found.push_back(line.substr(kind, line.find('\t', kind) - kind));
    }
    return found;
  }

 private:
  static std::string read() {
    const char* folder = std::getenv("ANYNPU_CHECK");
    std::ifstream file(std::string(folder ? folder : ".") + "/" + std::to_string(getpid()));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  size_t seen_;
};

using Kinds = std::vector<std::string>;

// A function with three parameters, of which the first may be an address.
inline Function made_up(const char* name, bool returns_code = true) {
  static constexpr Parameter kParameters[] = {
      {"address", Parameter::memory}, {"second", Parameter::other}, {"third", Parameter::other}};
  return {name, "-", "libascendcl.so", kParameters, returns_code};
}

// Calls it: what the hooks of every function do happens, and nothing else.
inline void call(const char* name, std::vector<uint64_t> arguments, uint64_t result = 0,
                 bool returns_code = true) {
  Function function = made_up(name, returns_code);
  Call one(function, arguments);
  one.finish(result);
}

}  // namespace anynpu::check
