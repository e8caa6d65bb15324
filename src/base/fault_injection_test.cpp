// SPDX-License-Identifier: Apache-2.0
#include "base/fault_injection.h"

#include <gtest/gtest.h>

namespace anynpu {
namespace {

TEST(FaultInjection, OperatorsAndFunctionsAreNamed) {
  const FaultList list = parse_faults("op:conv1,aclrtMalloc=207001@2,op:a@b@3,,op:Relu");
  EXPECT_TRUE(list.problems.empty());
  ASSERT_EQ(list.operators.size(), 3u);
  EXPECT_EQ(list.operators[0].name, "conv1");
  EXPECT_FALSE(list.operators[0].run);
  EXPECT_EQ(list.operators[1].name, "a@b");
  EXPECT_EQ(list.operators[1].run, 3u);
  ASSERT_EQ(list.calls.size(), 1u);
  EXPECT_EQ(list.calls[0].function, "aclrtMalloc");
  EXPECT_EQ(list.calls[0].code, "207001");
  EXPECT_EQ(list.calls[0].call, 2u);
}

TEST(FaultInjection, EntriesThatCannotBeReadAreKept) {
  for (const char* bad : {"op:", "conv", "=5", "aclInit=", "aclInit=0", "aclInit=x", "op:a@",
                          "op:a@x", "aclInit=1@-1", "aclInit=99999999999"}) {
    EXPECT_EQ(parse_faults(bad).problems.size(), 1u) << bad;
  }
}

TEST(FaultInjection, CodesOfHpeAreNames) {
  const FaultList list = parse_faults("stcMalloc=stcErrorNoImage@2,stcFree=", FaultSource::hpe);
  ASSERT_EQ(list.calls.size(), 1u);
  EXPECT_EQ(list.calls[0].code, "stcErrorNoImage");
  EXPECT_EQ(list.calls[0].call, 2u);
  EXPECT_EQ(list.problems.size(), 1u);
}

}  // namespace
}  // namespace anynpu
