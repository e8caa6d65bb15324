// SPDX-License-Identifier: Apache-2.0
// Where in the program a call was made: the lines of Python when a Python thread made it, else
// addresses that `anynpu check` turns into lines of C or C++.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace anynpu::check {

struct Frame {
  std::string file;      // of Python: the source; of native code: the module
  uint64_t line = 0;     // of native code: the address in the module
  std::string function;  // "" when unknown
  bool native = false;

  bool operator==(const Frame&) const = default;
};

using Stack = std::vector<Frame>;
using Site = std::shared_ptr<const Stack>;  // null: not known

// Takes Python's lock where the thread does not hold it. `fault`: in a signal handler, the
// instruction that was interrupted.
Site current_site(const void* fault = nullptr);
// True when the process runs Python.
bool python_is_here();
// True when the Python statement that is calling now drops what the call returns.
bool result_is_dropped();

}  // namespace anynpu::check
