// SPDX-License-Identifier: Apache-2.0
#include "api/acl_ge/entry.h"

namespace anynpu::ge_door {

Traits::Number Traits::number_of(const char*, const api::Failure<Number>& failure) {
  if (failure.code != 0) return failure.code;
  const bool argument = failure.status.code() == Code::invalid_argument;
  return argument ? ge::GRAPH_PARAM_INVALID : ge::GRAPH_FAILED;
}

Traits::Number Traits::report(const char* function, const api::Failure<Number>& failure) {
  acl::report(function, failure.status);
  return number_of(function, failure);
}

service::GraphOptions to_options(const std::map<ge::AscendString, ge::AscendString>& map) {
  service::GraphOptions options;
  for (const auto& [name, value] : map) options[name.GetString()] = value.GetString();
  return options;
}

}  // namespace anynpu::ge_door
