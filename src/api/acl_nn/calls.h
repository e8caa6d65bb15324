// SPDX-License-Identifier: Apache-2.0
// Called by the generated entry points of libopapi.so: arguments by their types in the headers, and
// the two phases.
#pragma once

#include <span>

#include "acl/acl_rt.h"
#include "aclnn/acl_meta.h"
#include "service/aclnn/executor.h"

namespace anynpu::acl_nn {

using service::RawArgument;

// One for each type that headers use.

inline Handle handle_of(const void* object) { return reinterpret_cast<Handle>(object); }
inline RawArgument argument(const aclTensor* value) {
  return {aclnn::ArgumentKind::tensor, handle_of(value)};
}
inline RawArgument argument(const aclTensorList* value) {
  return {aclnn::ArgumentKind::tensors, handle_of(value)};
}
inline RawArgument argument(const aclScalar* value) {
  return {aclnn::ArgumentKind::scalar, handle_of(value)};
}
inline RawArgument argument(const aclScalarList* value) {
  return {aclnn::ArgumentKind::scalars, handle_of(value)};
}
inline RawArgument argument(const aclIntArray* value) {
  return {aclnn::ArgumentKind::ints, handle_of(value)};
}
inline RawArgument argument(const aclFloatArray* value) {
  return {aclnn::ArgumentKind::floats, handle_of(value)};
}
inline RawArgument argument(const aclBoolArray* value) {
  return {aclnn::ArgumentKind::bools, handle_of(value)};
}
inline RawArgument argument(const char* value) { return RawArgument(value); }
inline RawArgument argument(double value) { return RawArgument(value); }
inline RawArgument argument(float value) { return RawArgument(static_cast<double>(value)); }
template <typename T>
requires std::is_integral_v<T> || std::is_enum_v<T>
inline RawArgument argument(T value) { return RawArgument(static_cast<int64_t>(value)); }

// The operator with its row; called once an operator.
service::NnOperator find_operator(std::string_view name, std::span<const char* const> parameters,
                                  std::string_view sides);
// `function` is the name of the entry point.
aclnnStatus prepare(const char* function, const service::NnOperator& op,
                    std::span<const RawArgument> arguments, uint64_t* workspace_size,
                    aclOpExecutor** executor);
aclnnStatus execute(const char* function, const service::NnOperator& op, void* workspace,
                    uint64_t workspace_size, aclOpExecutor* executor, aclrtStream stream);

}  // namespace anynpu::acl_nn
