// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or the Status that explains why there is none.
#pragma once

#include <cstdlib>
#include <optional>
#include <utility>

#include "base/status.h"

namespace anynpu {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {
    if (status_.ok()) status_ = Status(Code::internal, "a Result was made from an ok Status");
  }

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T value_or(T other) && { return ok() ? std::move(*value_) : std::move(other); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace anynpu
