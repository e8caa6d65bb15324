// SPDX-License-Identifier: Apache-2.0
#include "service/graph_build/operator_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

std::shared_ptr<void> made(const std::string& text) { return std::make_shared<std::string>(text); }

std::string text_of(const std::shared_ptr<void>& op) {
  return *static_cast<const std::string*>(op.get());
}

TEST(OperatorTypes, ARegisteredTypeIsMadeWithItsName) {
  EXPECT_FALSE(check_operator_type("TypeOfThisTest").ok());
  EXPECT_EQ(make_operator("TypeOfThisTest", "a"), nullptr);
  register_operator_type("TypeOfThisTest", [](const std::string& name) { return made(name); });
  EXPECT_TRUE(check_operator_type("TypeOfThisTest").ok());
  EXPECT_EQ(text_of(make_operator("TypeOfThisTest", "a")), "a");
}

TEST(OperatorTypes, AMissingTypeIsNamed) {
  EXPECT_THAT(check_operator_type("NotThere").message(), testing::HasSubstr("'NotThere'"));
}

TEST(OperatorTypes, TheFirstRegistrationCounts) {
  register_operator_type("RegisteredTwice", [](const std::string&) { return made("first"); });
  register_operator_type("RegisteredTwice", [](const std::string&) { return made("second"); });
  EXPECT_EQ(text_of(make_operator("RegisteredTwice", "a")), "first");
}

TEST(OperatorTypes, AMakerMayRegisterTypes) {
  register_operator_type("Outer", [](const std::string&) {
    register_operator_type("Inner", [](const std::string&) { return made("inner"); });
    return made("outer");
  });
  EXPECT_EQ(text_of(make_operator("Outer", "a")), "outer");
  EXPECT_TRUE(check_operator_type("Inner").ok());
}

TEST(OperatorTypes, OperatorsOfTheTableAreTypesWithoutAMaker) {
  EXPECT_TRUE(check_operator_type("MatMulV2").ok());
  EXPECT_EQ(make_operator("MatMulV2", "a"), nullptr);
}

}  // namespace
}  // namespace anynpu::service
