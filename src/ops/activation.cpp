// SPDX-License-Identifier: Apache-2.0
#include "ops/activation.h"

namespace anynpu::ops {

Result<Activation> activation_of(const OpContext& context) {
  const std::string name = context.string_attr("activation");
  if (name.empty()) return Activation{};
  if (name == "Relu") return Activation{true, 0.0f, std::numeric_limits<float>::infinity()};
  if (name == "Clip") {
    return Activation{true, context.float_attr("activation_min"),
                      context.float_attr("activation_max")};
  }
  return fail(Code::invalid_argument, "{}: activation is '{}', expected '', Relu or Clip",
              context.label(), name);
}

}  // namespace anynpu::ops
