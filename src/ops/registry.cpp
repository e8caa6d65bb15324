// SPDX-License-Identifier: Apache-2.0
#include "ops/registry.h"

#include <mutex>

#include "ops/backend_kernels.h"
#include "ops/families.h"

namespace anynpu::ops {

Registry::Registry() {
  register_aipp(*this);
  attention::register_family(*this);
  control_flow::register_family(*this);
  conv::register_family(*this);
  detection::register_family(*this);
  einsum::register_family(*this);
  elementwise::register_family(*this);
  gemm::register_family(*this);
  image_decoder::register_family(*this);
  index::register_family(*this);
  linalg::register_family(*this);
  loss::register_family(*this);
  norm::register_family(*this);
  pool::register_family(*this);
  quantize::register_family(*this);
  random::register_family(*this);
  reduce::register_family(*this);
  resize::register_family(*this);
  rnn::register_family(*this);
  shape::register_family(*this);
  signal::register_family(*this);
  softmax::register_family(*this);
  text::register_family(*this);
  training::register_family(*this);
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

void Registry::add_kernels(std::string_view op, std::span<const KernelLine> list,
                           std::string_view domain) {
  for (const KernelLine& line : list) {
    kernels_.push_back({.op = op,
                        .name = line.name,
                        .domain = domain,
                        .types = line.types,
                        .can_run = line.can_run,
                        .create = line.create});
  }
}

std::vector<const KernelDef*> Registry::kernels(std::string_view op,
                                                std::string_view domain) const {
  std::vector<const KernelDef*> list;
  for (const KernelDef& kernel : kernels_) {
    if (kernel.op == op && kernel.domain == domain) list.push_back(&kernel);
  }
  return list;
}

OpTraits traits_of(const graph::Node& node) {
  const auto schema = Registry::instance().find(node);
  return schema.ok() ? (*schema)->traits : OpTraits::general();
}

OpTraits traits_of(std::string_view op) {
  for (const OpSchema& schema : Registry::instance().schemas()) {
    if (schema.name == op) return schema.traits;
  }
  return OpTraits::general();
}

namespace {

// One list a back end, in the order they came. Read when plans are made, never while they run.
struct BackendLists {
  std::mutex mutex;
  std::vector<std::span<const KernelDef>> lists;
};
BackendLists& backend_lists() {
  static auto* lists = new BackendLists;  // never destroyed: used until the process ends
  return *lists;
}

}  // namespace

void add_backend_kernels(std::span<const KernelDef> kernels) {
  const std::lock_guard lock(backend_lists().mutex);
  for (const auto& known : backend_lists().lists) {
    if (known.data() == kernels.data()) return;
  }
  backend_lists().lists.push_back(kernels);
}

std::vector<const KernelDef*> backend_kernels(std::string_view backend, std::string_view op,
                                              std::string_view domain) {
  std::vector<const KernelDef*> found;
  const std::lock_guard lock(backend_lists().mutex);
  for (const auto& list : backend_lists().lists) {
    for (const KernelDef& kernel : list) {
      if (kernel.backend == backend && kernel.op == op && kernel.domain == domain)
        found.push_back(&kernel);
    }
  }
  return found;
}

}  // namespace anynpu::ops
