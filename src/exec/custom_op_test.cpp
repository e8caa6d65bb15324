// SPDX-License-Identifier: Apache-2.0
#include "exec/custom_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu::exec {
namespace {

using testing::HasSubstr;

KernelChoice chosen(std::string id, uint32_t blocks = 1) { return {std::move(id), blocks, {}, {}}; }

TEST(CustomOp, ALaunchHasInputsOutputsAndWorkspacesThenTheTiling) {
  std::byte in[8], out[16];
  const Buffer inputs[] = {{in, sizeof in}}, outputs[] = {{out, sizeof out}};
  KernelChoice choice{"fast", 4, {std::byte{7}}, {100, 200}};
  const KernelLaunch launch = launch_of(choice, inputs, outputs);

  EXPECT_EQ(launch.blocks, 4u);
  ASSERT_EQ(launch.regions.size(), 4u);
  EXPECT_EQ(launch.regions[0].data, in);
  EXPECT_EQ(launch.regions[0].back, KernelRegion::Back::none);
  EXPECT_EQ(launch.regions[1].data, out);
  EXPECT_EQ(launch.regions[1].bytes, 16u);
  EXPECT_EQ(launch.regions[1].back, KernelRegion::Back::all);
  EXPECT_EQ(launch.regions[2].data, nullptr);
  EXPECT_EQ(launch.regions[2].bytes, 100u);
  EXPECT_EQ(launch.regions[3].bytes, 200u);

  ASSERT_EQ(launch.arguments.size(), 5u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(launch.arguments[i].kind, KernelArgument::Kind::region);
    EXPECT_EQ(launch.arguments[i].index, i);
  }
  EXPECT_EQ(launch.arguments[4].kind, KernelArgument::Kind::copy);
  ASSERT_EQ(launch.copies.size(), 1u);
  EXPECT_EQ(launch.copies[0], choice.tiling);
}

TEST(CustomOp, AKernelMustBeRegisteredBeforeASelectorChoosesIt) {
  CustomOps ops;
  EXPECT_FALSE(ops.has_type("MyAdd"));
  const Status unknown = ops.choose("MyAdd", "key", chosen("fast"));
  EXPECT_EQ(unknown.code(), Code::not_found);
  EXPECT_THAT(unknown.message(), HasSubstr("'fast'"));

  ops.add_kernel("MyAdd", "fast", std::make_shared<DeviceKernel>());
  EXPECT_TRUE(ops.has_type("MyAdd"));
  EXPECT_EQ(ops.choose("MyAdd", "key", chosen("slow")).code(), Code::not_found);
  EXPECT_TRUE(ops.choose("MyAdd", "key", chosen("fast")).ok());
}

TEST(CustomOp, WhatWasChosenIsFoundByItsDescriptionUntilCleared) {
  CustomOps ops;
  const auto kernel = std::make_shared<DeviceKernel>();
  ops.add_kernel("MyAdd", "fast", kernel);
  ASSERT_TRUE(ops.choose("MyAdd", "of 4 floats", chosen("fast", 3)).ok());

  const auto found = ops.find("MyAdd", "of 4 floats");
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->kernel, kernel);
  EXPECT_EQ(found->choice->blocks, 3u);
  const auto other = ops.find("MyAdd", "of 8 floats");
  EXPECT_EQ(other.status().code(), Code::unsupported_op);
  EXPECT_THAT(other.status().message(), HasSubstr("aclopUpdateParams"));

  ops.clear();
  EXPECT_FALSE(ops.find("MyAdd", "of 4 floats").ok());
  EXPECT_FALSE(ops.has_type("MyAdd"));
  EXPECT_EQ(found->choice->blocks, 3u) << "what was found stays valid";
}

}  // namespace
}  // namespace anynpu::exec
