// SPDX-License-Identifier: Apache-2.0
// The one registry of operators and kernels. Built on first use from an explicit list of folders
// (registry.cpp), constant afterwards, read from any thread without locks.
//
// The kernels of an operator are in order of preference; the first whose can_run is ok is used; the
// last is a plain C++ reference that takes every case of the schema's types it lists and is the
// oracle of the tests.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/kernel.h"
#include "ops/schema.h"

namespace anynpu::ops {

class Registry {
 public:
  static const Registry& instance();

  // The schema of `op` at `opset` (0 = newest). Fails with unsupported_op and a message that names
  // operator, domain and opset.
  Result<const OpSchema*> find(std::string_view op, std::string_view domain, int64_t opset) const;
  Result<const OpSchema*> find(const graph::Node& node) const {
    return find(node.op, node.domain, node.opset);
  }
  // Kernels in order of preference; empty when there are none.
  std::vector<const KernelDef*> kernels(std::string_view op, std::string_view domain = {}) const;

  std::span<const OpSchema> schemas() const { return schemas_; }

  std::span<const KernelDef> kernels() const { return kernels_; }

  // For the families, while the registry is built.
  void add(OpSchema schema) { schemas_.push_back(std::move(schema)); }
  void add(KernelDef kernel) { kernels_.push_back(kernel); }  // of an operator that has no other
  // The kernels of an operator in order of preference. An operator has one list: in the kernels.cpp
  // of its family, or beside its schema where the family is a single file.
  void add_kernels(std::string_view op, std::span<const KernelLine> list,
                   std::string_view domain = {});
  void add_kernels(std::string_view op, std::initializer_list<KernelLine> list,
                   std::string_view domain = {}) {
    add_kernels(op, std::span(list.begin(), list.size()), domain);
  }

 private:
  Registry();
  std::vector<OpSchema> schemas_;
  std::vector<KernelDef> kernels_;
};

// The traits of the node's operator; OpTraits::general() where there is no schema.
OpTraits traits_of(const graph::Node& node);
// The same by name only, of the newest version in any domain: for lists of operators that users
// write.
OpTraits traits_of(std::string_view op);

// Checks operand count, types and attributes of `node` against its schema and runs the shape rule.
// The context returned holds the outputs; shapes hold -1 where an input did. `inputs` has one entry
// per node.inputs (absent ones included).
Result<OpContext> infer(const graph::Node& node, std::vector<Operand> inputs,
                        const Target& target = Target::host());
// The same for a node of `graph`, whose inputs are as the graph describes them.
Result<OpContext> infer(const graph::Graph& graph, const graph::Node& node,
                        const Target& target = Target::host());

// The first kernel of context.target that runs `context`; the message of a failure lists every
// refusal. With ANYNPU_VERBOSE=dispatch the choice and each refusal are printed to standard error.
Result<const KernelDef*> choose_kernel(const OpContext& context);

// Runs a node whose inputs are all constants with the reference kernel: constant folding. The
// bytes of each output come back in order.
Result<std::vector<std::vector<std::byte>>> evaluate(const OpContext& context);

}  // namespace anynpu::ops
