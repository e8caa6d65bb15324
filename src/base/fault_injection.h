// SPDX-License-Identifier: Apache-2.0
// Failures that ANYNPU_FAULT asks for, so that programs can test what they do then. A comma list:
//   op:NAME        the operator of that name or type fails, in every run
//   op:NAME@N      in run N of its model alone, from 0
//   FUNCTION=CODE  the C function returns that code
//   FUNCTION=CODE@N  in its call N alone, from 1
// Read once; an entry that cannot be read is told in the log. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace anynpu {

struct OperatorFault {
  std::string name;
  std::optional<uint64_t> run;  // unset: every one
};

struct CallFault {
  std::string function;
  int32_t code = 0;
  std::optional<uint64_t> call;
};

struct FaultList {
  std::vector<OperatorFault> operators;
  std::vector<CallFault> calls;
  std::vector<std::string> problems;  // entries that cannot be read
};
FaultList parse_faults(std::string_view text);

const FaultList& faults();
// The code that this call of `function` shall return; counts the calls.
std::optional<int32_t> call_fault(std::string_view function);

}  // namespace anynpu
