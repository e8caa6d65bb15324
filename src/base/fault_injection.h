// SPDX-License-Identifier: Apache-2.0
// Failures that programs ask for, to test what they do then. ANYNPU_FAULT (acl) and
// ANYNPU_HPE_FAULT (HPE) hold a comma list each:
//   op:NAME          the operator of that name or type fails, in every run
//   op:NAME@N        in run N of its model alone, from 0
//   FUNCTION=CODE    the C function returns that code: a number of acl, a name of HPE
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
  std::string code;  // as it is written
  std::optional<uint64_t> call;
};

struct FaultList {
  std::vector<OperatorFault> operators;
  std::vector<CallFault> calls;
  std::vector<std::string> problems;  // entries that cannot be read
};

// Whose faults. The codes of acl are numbers other than 0, those of HPE are names.
enum class FaultSource { acl, hpe };
FaultList parse_faults(std::string_view text, FaultSource source = FaultSource::acl);

const FaultList& faults(FaultSource source = FaultSource::acl);
// The code that this call of `function` shall return; counts the calls.
std::optional<std::string> call_fault(FaultSource source, std::string_view function);
// The sentence of such a failure.
Status explain_fault(FaultSource source, std::string_view function);

}  // namespace anynpu
