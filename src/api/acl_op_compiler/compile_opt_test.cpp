// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "api/acl/entry.h"
#include "service/op/compile_options.h"

namespace anynpu::acl {
namespace {

using testing::HasSubstr;

TEST(AclCompileOptions, AreCheckedKeptAndForgottenAtFinalize) {
  aclInit(nullptr);
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, "must_keep_origin_dtype"), ACL_SUCCESS);
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, "fast"), ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("ACL_PRECISION_MODE is 'fast'; expected one of"));
  EXPECT_EQ(aclSetCompileopt(static_cast<aclCompileOpt>(17), "x"), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetCompileopt(ACL_DEBUG_DIR, nullptr), ACL_ERROR_INVALID_PARAM);
  const size_t size = aclGetCompileoptSize(ACL_PRECISION_MODE);
  ASSERT_EQ(size, 23u);
  char value[23];
  EXPECT_EQ(aclGetCompileopt(ACL_PRECISION_MODE, value, size - 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetCompileopt(ACL_PRECISION_MODE, value, size), ACL_SUCCESS);
  EXPECT_STREQ(value, "must_keep_origin_dtype");
  EXPECT_EQ(aclGetCompileoptSize(ACL_DEBUG_DIR), 0u);
  aclFinalize();
  EXPECT_FALSE(service::compile_option(ACL_PRECISION_MODE));
  detail::current_life = Life::fresh;
}

}  // namespace
}  // namespace anynpu::acl
