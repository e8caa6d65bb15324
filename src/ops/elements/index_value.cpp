// SPDX-License-Identifier: Apache-2.0
#include "ops/elements/index_value.h"

namespace anynpu::ops {

Status index_failure(const std::string& label, int64_t index, int64_t extent) {
  return fail(Code::invalid_argument, "{}: index {} lies outside an axis of {}; expected -{} to {}",
              label, index, extent, extent, extent - 1);
}

}  // namespace anynpu::ops
