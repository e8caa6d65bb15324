// SPDX-License-Identifier: Apache-2.0
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "ops/backend_kernels.h"

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

// A back end for tests: one kernel, for vectors alone.
constexpr std::string_view kNowhere = "nowhere";

Status vectors_only(const OpContext& context) {
  if (context.inputs[0].rank() == 1) return {};
  return fail(Code::unsupported_shape, "rank {}, takes 1", context.inputs[0].rank());
}

void add_nowhere_kernels() {
  static const KernelDef kernels[] = {{.op = "Relu",
                                       .name = "nowhere_relu",
                                       .backend = kNowhere,
                                       .types = {DType::f32},
                                       .can_run = vectors_only}};
  add_backend_kernels(kernels);
  add_backend_kernels(kernels);  // counts once
}

Result<const KernelDef*> chosen_for(std::string_view backend, const char* op, Shape shape) {
  graph::Node node;
  node.op = op;
  node.opset = 13;
  node.inputs = {0};
  node.outputs = {1};
  ANYNPU_ASSIGN(const auto context, infer(node, {Operand::of(DType::f32, std::move(shape))},
                                          {.backend = backend, .threads = 3}));
  EXPECT_EQ(context.target.threads, 3u);
  return choose_kernel(context);
}

TEST(BackendKernels, AreChosenForTheirTargetAlone) {
  add_nowhere_kernels();
  EXPECT_EQ((*chosen_for(kNowhere, "Relu", {4}))->name, "nowhere_relu");
  EXPECT_EQ((*chosen_for("cpu", "Relu", {4}))->backend, "cpu");
  EXPECT_EQ(backend_kernels(kNowhere, "Relu", "").size(), 1u);
}

TEST(BackendKernels, WhatTheyDoNotTakeFallsBackToTheHost) {
  add_nowhere_kernels();
  EXPECT_EQ((*chosen_for(kNowhere, "Relu", {4, 4}))->backend, "cpu");
  EXPECT_EQ((*chosen_for(kNowhere, "Sigmoid", {4}))->backend, "cpu");
}

TEST(BackendKernels, TheFallbackIsPrinted) {
  add_nowhere_kernels();
  setenv("ANYNPU_VERBOSE", "dispatch", 1);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(chosen_for(kNowhere, "Relu", {4, 4}).ok());
  const std::string printed = testing::internal::GetCapturedStderr();
  unsetenv("ANYNPU_VERBOSE");
  EXPECT_NE(printed.find("nowhere_relu,rank 2, takes 1"), std::string::npos) << printed;
  EXPECT_NE(printed.find("falls back from nowhere to the host"), std::string::npos) << printed;
}

}  // namespace
}  // namespace anynpu::ops
