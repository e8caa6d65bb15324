// SPDX-License-Identifier: Apache-2.0
#include "service/callback/life_callbacks.h"

#include <gtest/gtest.h>

#include "service/callback/named_callbacks.h"
#include "service/config/config.h"
#include "service/lifecycle.h"

namespace anynpu::service {
namespace {

TEST(LifeCallbacks, AreCalledOnceForEachTypeWithTheTextOfTheConfiguration) {
  int calls = 0, key = 0;
  std::string seen;
  const InitCallback note = [&](const char* text, size_t length) {
    ++calls;
    seen.assign(text, length);
    return 0;
  };
  EXPECT_TRUE(add_init_callback(0, &key, note).ok());
  EXPECT_TRUE(add_init_callback(0, &key, note).ok());
  EXPECT_EQ(calls, 0);
  RuntimeConfig config;
  config.text = "{}";
  set_current_config(std::move(config));
  run_init_callbacks();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(seen, "{}");
  LifeChange().to(Life::initialised);
  EXPECT_TRUE(add_init_callback(7, &key, note).ok());
  EXPECT_EQ(calls, 2) << "at once";
  LifeChange().to(Life::fresh);
  EXPECT_TRUE(remove_init_callback(0, &key).ok());
  EXPECT_TRUE(remove_init_callback(7, &key).ok());
  EXPECT_EQ(remove_init_callback(7, &key).code(), Code::invalid_argument);
  EXPECT_EQ(add_init_callback(8, &key, note).code(), Code::invalid_argument);
  EXPECT_EQ(add_init_callback(0, nullptr, note).code(), Code::invalid_argument);
  set_current_config(RuntimeConfig());
}

TEST(LifeCallbacks, TheEndIsToldUntilItIsTakenOut) {
  int calls = 0, key = 0;
  EXPECT_TRUE(add_finalize_callback(0xFFFF, &key, [&] { return ++calls; }).ok());
  run_finalize_callbacks();
  EXPECT_TRUE(remove_finalize_callback(0xFFFF, &key).ok());
  run_finalize_callbacks();
  EXPECT_EQ(calls, 1);
}

TEST(NamedCallbacks, ANameStandsForOneFunctionAtATime) {
  NamedCallbacks<int> callbacks;
  int sum = 0;
  EXPECT_TRUE(callbacks.set("a", [&](int value) { sum += value; }).ok());
  EXPECT_EQ(callbacks.set("a", [](int) {}).code(), Code::already_exists);
  EXPECT_EQ(callbacks.set("", [](int) {}).code(), Code::invalid_argument);
  EXPECT_EQ(callbacks.set(nullptr, [](int) {}).code(), Code::invalid_argument);
  callbacks.call(3);
  EXPECT_TRUE(callbacks.set("a", {}).ok());
  EXPECT_EQ(callbacks.set("a", {}).code(), Code::not_found);
  callbacks.call(5);
  EXPECT_EQ(sum, 3);
}

}  // namespace
}  // namespace anynpu::service
