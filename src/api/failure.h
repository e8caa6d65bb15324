// SPDX-License-Identifier: Apache-2.0
// A failed call on its way out of a front door. Its number follows from the Code of the status
// (errors.cpp of the door); `code` is set where it is given from outside, as by fault injection.
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
