// SPDX-License-Identifier: Apache-2.0
// The call site of a call: the Python stack if a Python thread made it, else addresses that
// `anynpu check` turns into lines of C or C++.
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

// The innermost frame comes first: a framework's library (torch_npu) that was called from Python
// code is in front of that code. Takes the GIL if the thread does not hold it. `fault`: in a signal
// handler, the interrupted instruction.
Site current_site(const void* fault = nullptr);
// True when the process runs Python.
bool python_is_here();
// True when the calling thread runs Python code.
bool is_in_python();
// True when the calling Python statement ignores the return value.
bool result_is_dropped();

}  // namespace anynpu::check
