// SPDX-License-Identifier: Apache-2.0
// The arguments of an aclnn call: raw as the C interface takes them, and resolved, with every
// object held. ResolvedCall also makes the key of the call's plan. Lives during phase 1.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aclnn/call.h"
#include "service/aclnn/objects.h"
#include "service/aclnn/plan_cache.h"

namespace anynpu::service {

// One argument, by the type that the header gives it.
struct RawArgument {
  aclnn::ArgumentKind kind;
  union {
    Handle handle;
    int64_t integer;
    double real;
    const char* text;
  };
  RawArgument(aclnn::ArgumentKind k, Handle h) : kind(k), handle(h) {}
  explicit RawArgument(int64_t value) : kind(aclnn::ArgumentKind::integer), integer(value) {}
  explicit RawArgument(double value) : kind(aclnn::ArgumentKind::real), real(value) {}
  explicit RawArgument(const char* value) : kind(aclnn::ArgumentKind::text), text(value) {}
};

class ResolvedCall {
 public:
  // Objects of the call stay alive, even if another thread destroys them.
  Status resolve(const aclnn::Signature& signature, std::span<const RawArgument> raw);

  aclnn::Call call() const { return {signature_, arguments_, tensors_}; }
  // In the order of the call; lists in their place; null where one is left out.
  const std::vector<std::shared_ptr<NnTensor>>& tensors() const { return held_tensors_; }
  std::vector<std::shared_ptr<NnTensor>> take_tensors() { return std::move(held_tensors_); }
  // Scalars and C numbers of the call.
  std::span<const aclnn::Scalar> values() const { return values_; }

  void make_key(const aclnn::Row& row, NnKey& key) const;

 private:
  Status add(const RawArgument& raw, const char* name);
  void add_tensor(std::shared_ptr<NnTensor> tensor);

  const aclnn::Signature* signature_ = nullptr;
  std::vector<aclnn::Argument> arguments_;
  std::vector<const aclnn::TensorView*> tensors_;
  std::vector<std::shared_ptr<NnTensor>> held_tensors_;
  std::vector<std::shared_ptr<void>> held_;
  std::vector<aclnn::Scalar> values_;
  std::vector<const aclnn::Scalar*> scalar_items_;
};

}  // namespace anynpu::service
