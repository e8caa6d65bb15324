// SPDX-License-Identifier: Apache-2.0
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace anynpu::ops {
namespace {

TEST(Registry, AnOperatorHasOneKernelList) {
  // Kernels of an operator are added one after the other: none comes from a second place.
  std::set<std::string> done;
  std::string current;
  for (const KernelDef& kernel : Registry::instance().kernels()) {
    const std::string op = std::string(kernel.domain) + ":" + std::string(kernel.op);
    if (op == current) continue;
    EXPECT_TRUE(done.insert(op).second) << op << " has kernels in two places, " << kernel.name;
    current = op;
  }
}

TEST(Registry, NamesOfKernelsAreUniqueWithinAnOperator) {
  std::set<std::string> names;
  for (const KernelDef& kernel : Registry::instance().kernels()) {
    const std::string op = std::string(kernel.domain) + ":" + std::string(kernel.op);
    EXPECT_TRUE(names.insert(op + " " + std::string(kernel.name)).second)
        << op << " " << kernel.name;
  }
}

TEST(Registry, KernelsOfAnotherBackEndAreRefusedByName) {
  graph::Node node;
  node.op = "Relu";
  node.opset = 13;
  node.inputs = {0};
  node.outputs = {1};
  auto context = infer(node, {Operand::of(DType::f32, {4})}, {.backend = "remote", .threads = 3});
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  EXPECT_EQ(context->target.threads, 3u);
  const auto chosen = choose_kernel(*context);
  ASSERT_FALSE(chosen.ok());
  EXPECT_NE(chosen.status().to_string().find("runs on cpu, the plan is for remote"),
            std::string::npos)
      << chosen.status().to_string();
}

}  // namespace
}  // namespace anynpu::ops
