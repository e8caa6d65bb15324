// SPDX-License-Identifier: Apache-2.0
// From Status to stcError_t: one table (errors.cpp), the names and sentences of the document, and
// the last error of each thread. Beside the document's fixed sentence the thread keeps our own,
// which says what failed with its values (anynpu_hpe_last_sentence). Works in forked children.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "hpe.h"

namespace anynpu::hpe {

// A failure; `error` is set where the Code alone does not tell, as with handles.
struct Failure {
  Failure() = default;
  Failure(Status s) : status(std::move(s)) {}  // NOLINT: implicit by design
  Failure(stcError_t e, Status s) : status(std::move(s)), error(e) {}

  bool ok() const { return status.ok(); }

  Status status;
  stcError_t error = stcSuccess;
};

stcError_t to_stc_error(Code code);

// Keeps and logs a failure and returns its code. Never called with ok.
stcError_t report(const char* function, const Failure& failure);

// The thread's last error, which is forgotten then.
stcError_t take_last_error();
// Our sentence about the thread's most recent failure; "" when there was none.
const char* last_sentence();

// The error of this name; stcSuccess when there is none.
stcError_t error_named(std::string_view name);

}  // namespace anynpu::hpe
