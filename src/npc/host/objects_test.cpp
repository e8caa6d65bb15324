// SPDX-License-Identifier: Apache-2.0
#include "npc/host/objects.h"

#include <gtest/gtest.h>

namespace anynpu::npc {
namespace {

TEST(HostObjects, ABadHandleNamesItsKindAsTheCause) {
  EXPECT_EQ(destroy_stream(12).code(), Code::invalid_stream);
  EXPECT_EQ(synchronize_stream(12).code(), Code::invalid_stream);
  EXPECT_EQ(clean_stream(12).code(), Code::invalid_stream);
  EXPECT_EQ(destroy_event(12).code(), Code::invalid_event);
  EXPECT_EQ(wait_event(0, 12).code(), Code::invalid_event);
  EXPECT_EQ(elapsed_ms(12, 12).status().code(), Code::invalid_event);
  EXPECT_EQ(unload_module(12).code(), Code::invalid_handle);
}

TEST(HostObjects, AConfigurationIsCheckedAndUsedOnce) {
  EXPECT_EQ(configure_call({kCores + 1, 0, 0}).code(), Code::invalid_config);
  EXPECT_EQ(launch_configured({12, "kernel"}).code(), Code::invalid_config);
  EXPECT_EQ(launch_configured({12, "kernel"}).code(), Code::invalid_handle);
  EXPECT_EQ(configure_call({1, 0, 4}).code(), Code::invalid_argument);
  EXPECT_TRUE(configure_call({1, 0, 3}).ok());
  EXPECT_EQ(launch_configured({}).code(), Code::invalid_argument) << "no name";
}

TEST(HostObjects, AStreamOfOneClusterIsNotUnified) {
  auto& handles = HandleTable::instance();
  const Handle unified = handles.insert(HostStream::create_unified());
  EXPECT_TRUE(synchronize_unified_stream(unified).ok());
  EXPECT_TRUE(destroy_stream(unified).ok());
  EXPECT_EQ(synchronize_unified_stream(unified).code(), Code::invalid_stream);
}

}  // namespace
}  // namespace anynpu::npc
