// SPDX-License-Identifier: Apache-2.0
// Injected failures, to test the error handling of programs. ANYNPU_FAULT (acl) and
// ANYNPU_HPE_FAULT (HPE) are comma-separated lists of:
//   op:NAME          the operator of that name or type fails, in every run
//   op:NAME@N        only in run N of its model, from 0
//   FUNCTION=CODE    the C function returns that code: a number of acl, a name of HPE
//   FUNCTION=CODE@N  only in its call N, from 1
// Read once; an invalid entry is reported in the log. Thread-safe.
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
  std::optional<uint64_t> run;  // unset: every run
};

struct CallFault {
  std::string function;
  std::string code;  // as it is written
  std::optional<uint64_t> call;
};

struct FaultList {
  std::vector<OperatorFault> operators;
  std::vector<CallFault> calls;
  std::vector<std::string> problems;  // invalid entries
};

// The API. Codes of acl are numbers other than 0, those of HPE are names.
enum class FaultSource { acl, hpe };
FaultList parse_faults(std::string_view text, FaultSource source = FaultSource::acl);

const FaultList& faults(FaultSource source = FaultSource::acl);
// The code that this call of `function` must return, if any; counts the calls.
std::optional<std::string> call_fault(FaultSource source, std::string_view function);
// The message of an injected failure.
Status explain_fault(FaultSource source, std::string_view function);

}  // namespace anynpu
