// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "acl/acl.h"
#include "api/acl/entry.h"
#include "base/soc.h"

namespace anynpu::acl {
namespace {

using testing::HasSubstr;

TEST(AclVersion, WorksBeforeInit) {
  int32_t major = -1, minor = -1, patch = -1;
  EXPECT_EQ(aclrtGetVersion(&major, &minor, &patch), ACL_SUCCESS);
  EXPECT_EQ(major, ACL_MAJOR_VERSION);
  EXPECT_NE(aclrtGetVersion(&major, nullptr, &patch), ACL_SUCCESS);
  aclCANNPackageVersion version;
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version), ACL_SUCCESS);
  EXPECT_STREQ(version.version, "8.0.RC2.alpha001");
  EXPECT_STREQ(version.majorVersion, "8");
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &version), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(99), &version),
            ACL_ERROR_INVALID_PARAM);
  char text[ACL_PKG_VERSION_MAX_SIZE];
  char name[] = "runtime", unknown[] = "no such";
  EXPECT_EQ(aclsysGetVersionStr(name, text), ACL_SUCCESS);
  EXPECT_STREQ(text, "8.0.RC2.alpha001");
  EXPECT_EQ(aclsysGetVersionStr(unknown, text), ACL_ERROR_INVALID_PARAM);
}

TEST(AclVersion, AProbeForAPackageIsNotTheLastError) {
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  aclCANNPackageVersion version;
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &version), ACL_ERROR_INVALID_FILE);
  char text[ACL_PKG_VERSION_MAX_SIZE];
  char name[] = "ops_math";
  EXPECT_NE(aclsysGetVersionStr(name, text), ACL_SUCCESS);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_NE(aclsysGetVersionStr(name, nullptr), ACL_SUCCESS);
  for (aclCANNPackageName part : {ACL_PKG_NAME_HCCL, ACL_PKG_NAME_OPP_KERNEL}) {
    EXPECT_EQ(aclsysGetCANNVersion(part, &version), ACL_SUCCESS);
  }
}

TEST(AclSoc, TheNameIsAKnownChip) {
  EXPECT_TRUE(is_soc_name(aclrtGetSocName()));
  EXPECT_TRUE(is_soc_name("Ascend310"));
  EXPECT_FALSE(is_soc_name("Ascend310P"));
}

TEST(AclAttributes, ListedOnesAreSupported) {
  const aclCannAttr* list = nullptr;
  size_t count = 0;
  ASSERT_EQ(aclGetCannAttributeList(&list, &count), ACL_SUCCESS);
  ASSERT_GT(count, 0u);
  int32_t value = -1;
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(aclGetCannAttribute(list[i], &value), ACL_SUCCESS);
    EXPECT_EQ(value, 1);
  }
  EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_JIT_COMPILE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(aclGetCannAttribute(static_cast<aclCannAttr>(77), &value), ACL_ERROR_INVALID_PARAM);
}

TEST(AclAttributes, CapabilitiesAreThoseOfTheMachine) {
  aclInit(nullptr);
  int64_t value = -1;
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &value), ACL_SUCCESS);
  EXPECT_GE(value, 1);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value), ACL_SUCCESS);
  EXPECT_EQ(aclGetDeviceCapability(9999, ACL_DEVICE_INFO_L2_SIZE, &value),
            ACL_ERROR_INVALID_DEVICE);
  EXPECT_EQ(aclGetDeviceCapability(UINT32_MAX, ACL_DEVICE_INFO_L2_SIZE, &value),
            ACL_ERROR_INVALID_DEVICE);
  EXPECT_EQ(aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(9), &value),
            ACL_ERROR_INVALID_PARAM);
  aclFinalize();
  detail::current_life = Life::fresh;
}

TEST(AclFloat16, ConvertsBothWays) {
  EXPECT_EQ(aclFloat16ToFloat(0x3c00), 1.0f);
  EXPECT_EQ(aclFloatToFloat16(-2.0f), 0xc000);
  EXPECT_EQ(aclFloatToFloat16(1e9f), 0x7bff) << "saturates";
  EXPECT_EQ(aclFloatToFloat16(-1e9f), 0xfbff);
  EXPECT_EQ(aclFloatToFloat16(INFINITY), 0x7bff);
  EXPECT_EQ(aclFloatToFloat16(-INFINITY), 0xfbff);
  EXPECT_EQ(aclFloatToFloat16(NAN), 0x7bff);
  EXPECT_EQ(aclFloat16ToFloat(0x7c00), 65536.0f);
  EXPECT_EQ(aclFloat16ToFloat(0xfc00), -65536.0f);
  EXPECT_EQ(aclFloat16ToFloat(0x7e00), 98304.0f);
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<aclFloat16>(bits);
    ASSERT_EQ(aclFloatToFloat16(aclFloat16ToFloat(half)), half);
  }
}

TEST(AclDataType, SizesAreWholeBytesOrZero) {
  EXPECT_EQ(aclDataTypeSize(ACL_FLOAT), 4u);
  EXPECT_EQ(aclDataTypeSize(ACL_COMPLEX128), 16u);
  EXPECT_EQ(aclDataTypeSize(ACL_BF16), 2u);
  for (aclDataType one : {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0}) {
    EXPECT_EQ(aclDataTypeSize(one), 1u) << one;
  }
  for (int none : {-1, 13, 29, 30, 38, 39, 40, 41, 999}) {
    EXPECT_EQ(aclDataTypeSize(static_cast<aclDataType>(none)), 0u) << none;
  }
}

}  // namespace
}  // namespace anynpu::acl
