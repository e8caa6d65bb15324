// SPDX-License-Identifier: Apache-2.0
// Maps Status to stcError_t: one table (errors.cpp), with the names and messages of the document.
// Besides the document's fixed message the thread keeps our own, which says what failed with its
// values (base/recent_failure.h, anynpu_hpe_last_sentence). Works in forked children.
#pragma once

#include <string>
#include <string_view>

#include "api/failure.h"
#include "base/status.h"
#include "hpe.h"

namespace anynpu::hpe {

using Failure = api::Failure<stcError_t>;

stcError_t to_stc_error(std::string_view function, Code code);
stcError_t number_of(const char* function, const Failure& failure);

// Stores and logs a failure and returns its code. Never called with ok.
stcError_t report(const char* function, const Failure& failure);

// The error of this name; stcSuccess when there is none.
stcError_t error_named(std::string_view name);

}  // namespace anynpu::hpe
