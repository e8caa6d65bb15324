// SPDX-License-Identifier: Apache-2.0
#include "ops/registry.h"

#include "ops/families.h"

namespace anynpu::ops {

Registry::Registry() {
  register_aipp(*this);
  register_attention(*this);
  register_control_flow(*this);
  register_conv(*this);
  register_detection(*this);
  register_einsum(*this);
  register_elementwise(*this);
  register_gemm(*this);
  register_image_decoder(*this);
  register_index(*this);
  register_linalg(*this);
  register_loss(*this);
  register_norm(*this);
  register_pool(*this);
  register_quantize(*this);
  register_random(*this);
  register_reduce(*this);
  register_resize(*this);
  register_rnn(*this);
  register_shape(*this);
  register_signal(*this);
  register_softmax(*this);
  register_text(*this);
  register_training(*this);
}

const Registry& Registry::instance() {
  static const Registry* registry = new Registry;  // never destroyed: used until the process ends
  return *registry;
}

Result<const OpSchema*> Registry::find(std::string_view op, std::string_view domain,
                                       int64_t opset) const {
  const OpSchema* best = nullptr;
  const OpSchema* oldest = nullptr;
  const std::string_view wanted = domain == "ai.onnx" ? std::string_view{} : domain;
  for (const OpSchema& schema : schemas_) {
    if (schema.name != op || schema.domain != wanted) continue;
    if (!oldest || schema.since < oldest->since) oldest = &schema;
    if (opset != 0 && schema.since > opset) continue;
    if (!best || schema.since > best->since) best = &schema;
  }
  if (best) return best;
  if (oldest) {
    return fail(Code::unsupported_op,
                "operator {} is used at opset {}, it is supported from opset {}; export the model "
                "with a newer opset",
                op, opset, oldest->since);
  }
  return fail(Code::unsupported_op,
              "operator {} (domain '{}', opset {}) is not supported; docs/ops.md lists those that "
              "are: replace it in the model or leave it to the host program",
              op, domain.empty() ? "ai.onnx" : domain, opset);
}

std::vector<const KernelDef*> Registry::kernels(std::string_view op,
                                                std::string_view domain) const {
  std::vector<const KernelDef*> list;
  for (const KernelDef& kernel : kernels_) {
    if (kernel.op == op && kernel.domain == domain) list.push_back(&kernel);
  }
  return list;
}

}  // namespace anynpu::ops
