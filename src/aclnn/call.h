// SPDX-License-Identifier: Apache-2.0
// A call of an aclnn operator as recipes see it: its name, the parameter names from the header, and
// the arguments with handles resolved. Lives during phase 1 only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "aclnn/tensor_view.h"

namespace anynpu::aclnn {

enum class ArgumentKind : uint8_t {
  tensor,
  tensors,
  scalar,
  scalars,
  ints,
  floats,
  bools,
  integer,  // any C integer and bool
  real,     // float and double
  text,
};

struct Argument {
  ArgumentKind kind = ArgumentKind::integer;
  bool given = false;  // false: a null pointer
  union {
    const TensorView* tensor;
    const Scalar* scalar;
    int64_t integer;
    double real;
  };
  // The lists; entries of `tensors` may be null.
  std::span<const TensorView* const> tensors = {};
  std::span<const Scalar* const> scalars = {};
  std::span<const int64_t> ints = {};
  std::span<const float> floats = {};
  std::span<const uint8_t> bools = {};
  std::string_view text = {};
  uint32_t first_tensor = 0;  // tensor, tensors: index among all tensors of the call
  uint32_t first_value = 0;   // other kinds: index among the call's run-time values

  Argument() : integer(0) {}
};

struct Signature {
  std::string_view name;                    // "aclnnAdd"
  std::span<const char* const> parameters;  // "self", "other", "alpha", "out"
  std::string_view outputs;                 // one letter per parameter: i input, o output, b both
};

struct Call {
  const Signature* signature = nullptr;
  std::span<const Argument> arguments;
  // All tensors of the call, lists flattened; null where one is left out.
  std::span<const TensorView* const> tensors;
};

}  // namespace anynpu::aclnn
