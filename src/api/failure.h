// SPDX-License-Identifier: Apache-2.0
// The failure of an entry point. Its error code follows from the Code of the status (errors.cpp of
// the front door), unless `code` is set from outside, as by fault injection.
#pragma once

#include "base/status.h"

namespace anynpu::api {

// A Status converts to it, so that bodies of entry points may return either.
template <typename Number>
struct Failure {
  Failure() = default;
  Failure(Status s) : status(std::move(s)) {}  // NOLINT: implicit by design
  Failure(Number c, Status s) : status(std::move(s)), code(c) {}

  bool ok() const { return status.ok(); }

  Status status;
  Number code{};  // 0: that of the status
};

}  // namespace anynpu::api
