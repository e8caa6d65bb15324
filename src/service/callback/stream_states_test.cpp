// SPDX-License-Identifier: Apache-2.0
#include "service/callback/stream_states.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::Runtime;

std::vector<std::pair<Handle, uint32_t>> seen;
void note(Handle stream, uint32_t state, void*, void*) { seen.emplace_back(stream, state); }

TEST(StreamStates, CallbacksAreToldUnderTheirNames) {
  ASSERT_TRUE(Runtime::instance().set_device(0).ok());
  int function = 0;
  ASSERT_TRUE(set_stream_state_callback("a", &function, nullptr, note).ok());
  EXPECT_EQ(set_stream_state_callback("a", &function, nullptr, note).code(), Code::already_exists);
  EXPECT_EQ(set_stream_state_callback("", &function, nullptr, note).code(), Code::invalid_argument);
  EXPECT_EQ(set_stream_state_callback("b", nullptr, nullptr, note).code(), Code::not_found);
  const Handle stream = *(*Runtime::instance().current())->create_stream({});
  ASSERT_TRUE(Runtime::instance().destroy_stream(stream, device::Stream::Close::drain).ok());
  const std::vector<std::pair<Handle, uint32_t>> expected = {{stream, 1}, {stream, 2}};
  EXPECT_EQ(seen, expected);
  ASSERT_TRUE(set_stream_state_callback("a", nullptr, nullptr, note).ok());
  seen.clear();
  Runtime::instance().reset_all();
  EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace anynpu::service
