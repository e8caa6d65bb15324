// SPDX-License-Identifier: Apache-2.0
#include "service/instance/print.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/json.h"
#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using Print = InstanceTest;

TEST_F(Print, ATraceHasAnEventForEachTask) {
  const Handle instance = captured("ab");
  const std::string path =
      testing::TempDir() + "/print_test_" + std::to_string(::getpid()) + ".json";
  ASSERT_TRUE(print_instance(instance, path.c_str(), false).ok());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const auto parsed = json::parse(text.str(), path);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->array()->size(), 2u);
  EXPECT_EQ(*(*parsed->array())[1].find("name")->string(), "letter");
  EXPECT_TRUE(log_instance(instance).ok());
  EXPECT_FALSE(print_instance(instance, "/no/such/folder/x", false).ok());
  std::remove(path.c_str());
}

TEST_F(Print, OneThatIsOpenIsRefused) {
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  EXPECT_EQ(log_instance(capture_info(s_)->instance).code(), Code::instance_capturing);
}

}  // namespace
}  // namespace anynpu::service
