// SPDX-License-Identifier: Apache-2.0
#include "ops/dtype_set.h"

namespace anynpu::ops {

std::string DTypeSet::to_string() const {
  std::string text;
  for (int i = 0; i < 64; ++i) {
    const auto type = static_cast<DType>(i);
    if (!has(type)) continue;
    if (!text.empty()) text += ", ";
    text += name_of(type);
  }
  return text.empty() ? "none" : text;
}

}  // namespace anynpu::ops
