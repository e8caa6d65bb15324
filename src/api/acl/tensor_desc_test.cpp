// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor_desc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "api/acl/entry.h"

namespace anynpu::acl {
namespace {

using testing::HasSubstr;

class AclTensorDesc : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS); }
  void TearDown() override {
    aclFinalize();
    detail::current_life = Life::fresh;
    EXPECT_EQ(HandleTable::instance().live(HandleTag::tensor_desc), 0u);
  }
};

aclTensorDesc* create(std::vector<int64_t> dims, aclDataType type = ACL_FLOAT,
                      aclFormat format = ACL_FORMAT_ND) {
  return aclCreateTensorDesc(type, static_cast<int>(dims.size()), dims.data(), format);
}

TEST_F(AclTensorDesc, GivesBackWhatItWasCreatedWith) {
  aclTensorDesc* desc = create({2, -1, 4}, ACL_FLOAT16, ACL_FORMAT_NCHW);
  ASSERT_NE(desc, nullptr);
  EXPECT_EQ(aclGetTensorDescType(desc), ACL_FLOAT16);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 3u);
  EXPECT_EQ(aclGetTensorDescDim(desc, 2), 4);
  int64_t dim = 0;
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 1, &dim), ACL_SUCCESS);
  EXPECT_EQ(dim, -1);
  EXPECT_EQ(aclGetTensorDescSize(desc), 0u);
  EXPECT_STREQ(aclGetTensorDescName(desc), "");
  EXPECT_EQ(aclGetTensorDescAddress(desc), nullptr);
  EXPECT_EQ(aclGetTensorDescByIndex(desc, 0), desc);
  aclDestroyTensorDesc(desc);
}

TEST_F(AclTensorDesc, AScalarHasOneElementAndUnknownRankNone) {
  aclTensorDesc* scalar = aclCreateTensorDesc(ACL_INT64, 0, nullptr, ACL_FORMAT_ND);
  EXPECT_EQ(aclGetTensorDescSize(scalar), 8u);
  EXPECT_EQ(aclGetTensorDescElementCount(scalar), 1u);
  aclTensorDesc* unknown = create({-2});
  EXPECT_EQ(aclGetTensorDescNumDims(unknown), static_cast<size_t>(ACL_UNKNOWN_RANK));
  EXPECT_EQ(aclGetTensorDescSize(unknown), 0u);
  EXPECT_EQ(aclGetTensorDescDim(unknown, 0), -1);
  aclDestroyTensorDesc(scalar);
  aclDestroyTensorDesc(unknown);
}

TEST_F(AclTensorDesc, BadArgumentsGiveNullAndAMessage) {
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, -1, nullptr, ACL_FORMAT_ND), nullptr);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("the number of dimensions is -1"));
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 2, nullptr, ACL_FORMAT_ND), nullptr);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("dims is null"));
  EXPECT_EQ(create({-3}), nullptr);
  EXPECT_EQ(create({1}, static_cast<aclDataType>(999)), nullptr);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("data type 999 does not exist"));
  EXPECT_EQ(create({1}, ACL_FLOAT, static_cast<aclFormat>(-7)), nullptr);
}

TEST_F(AclTensorDesc, NullStaleAndForeignHandlesAreTold) {
  int64_t dim = 0;
  EXPECT_EQ(aclGetTensorDescDimV2(nullptr, 0, &dim), ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("is 0 (null)"));
  aclTensorDesc* desc = create({1});
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 1, &dim), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 0, nullptr), ACL_ERROR_INVALID_PARAM);
  aclDestroyTensorDesc(desc);
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 0, &dim), ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("destroyed already"));
  EXPECT_EQ(aclGetTensorDescType(desc), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_UNDEFINED);
  EXPECT_STREQ(aclGetTensorDescName(desc), "");
  aclDestroyTensorDesc(desc);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("destroyed already"));
  aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, 0);
  EXPECT_EQ(aclGetTensorDescDimV2(reinterpret_cast<aclTensorDesc*>(buffer), 0, &dim),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("is a data buffer handle"));
  aclDestroyDataBuffer(buffer);
}

TEST_F(AclTensorDesc, RangesAreSetAndRead) {
  aclTensorDesc* desc = create({-1, 3});
  int64_t range[2] = {};
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 0, 2, range), ACL_SUCCESS);
  EXPECT_THAT(range, testing::ElementsAre(0, -1));
  int64_t ranges[][2] = {{1, 16}, {3, 3}};
  EXPECT_EQ(aclSetTensorShapeRange(desc, 2, ranges), ACL_SUCCESS);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 0, 2, range), ACL_SUCCESS);
  EXPECT_THAT(range, testing::ElementsAre(1, 16));
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 0, 1, range), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorShapeRange(desc, 2, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorShapeRange(desc, SIZE_MAX, ranges), ACL_ERROR_INVALID_PARAM);
  int64_t reversed[][2] = {{5, 2}};
  EXPECT_EQ(aclSetTensorShapeRange(desc, 1, reversed), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorValueRange(desc, 2, ranges), ACL_SUCCESS);
  aclDestroyTensorDesc(desc);
}

TEST_F(AclTensorDesc, NamesPlacesAndConstantsAreKept) {
  aclTensorDesc* desc = create({2});
  aclSetTensorDescName(desc, "x");
  EXPECT_STREQ(aclGetTensorDescName(desc), "x");
  EXPECT_EQ(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorPlaceMent(desc, static_cast<aclMemType>(3)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorDynamicInput(desc, "inputs"), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorDynamicInput(desc, nullptr), ACL_ERROR_INVALID_PARAM);
  float value[2] = {1, 2};
  EXPECT_EQ(aclSetTensorConst(desc, value, sizeof value), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorConst(desc, reinterpret_cast<void*>(0x10), 8), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorConst(desc, value, SIZE_MAX), ACL_ERROR_INVALID_PARAM);
  auto pin = HandleTable::instance().find<TensorDesc>(to_handle(desc));
  EXPECT_EQ(pin->constant.size(), sizeof value) << "a failed call changes nothing";
  EXPECT_EQ(pin->placement, Placement::host);
  pin = {};
  aclDestroyTensorDesc(desc);
}

TEST_F(AclTensorDesc, OriginSettersChangeWhatIsReadAndStorageSettersDoNot) {
  aclTensorDesc* desc = create({2, 3});
  const int64_t dims[] = {4, 5, 6};
  EXPECT_EQ(aclSetTensorShape(desc, 3, dims), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorFormat(desc, ACL_FORMAT_FRACTAL_NZ), ACL_SUCCESS);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 2u);
  EXPECT_EQ(aclSetTensorOriginShape(desc, 3, dims), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorOriginFormat(desc, ACL_FORMAT_NCHW), ACL_SUCCESS);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 3u);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
  EXPECT_EQ(aclSetTensorStorageShape(desc, -5, dims), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorStorageFormat(desc, static_cast<aclFormat>(99)), ACL_ERROR_INVALID_PARAM);
  aclDestroyTensorDesc(desc);
}

TEST_F(AclTensorDesc, AFormatIsTransformedIntoANewDescription) {
  aclTensorDesc* desc = create({1, 3, 8, 4}, ACL_FLOAT, ACL_FORMAT_NCHW);
  aclTensorDesc* nhwc = nullptr;
  ASSERT_EQ(aclTransTensorDescFormat(desc, ACL_FORMAT_NHWC, &nhwc), ACL_SUCCESS);
  EXPECT_EQ(aclGetTensorDescDim(nhwc, 3), 3);
  EXPECT_EQ(aclTransTensorDescFormat(desc, ACL_FORMAT_NDHWC, &nhwc), ACL_ERROR_FORMAT_NOT_MATCH);
  EXPECT_EQ(aclTransTensorDescFormat(desc, ACL_FORMAT_NHWC, nullptr), ACL_ERROR_INVALID_PARAM);
  aclDestroyTensorDesc(desc);
  aclDestroyTensorDesc(nhwc);
}

TEST_F(AclTensorDesc, ADescriptionOfSeveralGivesEachByIndex) {
  auto both = std::make_shared<TensorDesc>();
  both->list = {std::make_shared<TensorDesc>(), std::make_shared<TensorDesc>()};
  both->list[1]->dtype = DType::i8;
  auto* desc = from_handle<aclTensorDesc*>(HandleTable::instance().insert(both));
  both.reset();
  aclTensorDesc* second = aclGetTensorDescByIndex(desc, 1);
  EXPECT_EQ(aclGetTensorDescType(second), ACL_INT8);
  EXPECT_EQ(aclGetTensorDescByIndex(desc, 1), second);
  EXPECT_EQ(aclGetTensorDescByIndex(desc, 2), nullptr);
  aclDestroyTensorDesc(desc);
  EXPECT_EQ(aclGetTensorDescType(second), ACL_DT_UNDEFINED) << "ends with its owner";
}

TEST_F(AclTensorDesc, BuffersKeepAddressAndSize) {
  char memory[16];
  aclDataBuffer* buffer = aclCreateDataBuffer(memory, 16);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), memory);
  EXPECT_EQ(aclGetDataBufferSize(buffer), 16u);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, memory + 4, size_t{5} << 32), ACL_SUCCESS);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), size_t{5} << 32);
  EXPECT_EQ(aclGetDataBufferSize(buffer), 0u) << "truncated, as documented";
  EXPECT_EQ(aclUpdateDataBuffer(buffer, memory, SIZE_MAX), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclUpdateDataBuffer(nullptr, memory, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclCreateDataBuffer(memory, SIZE_MAX), nullptr);
  EXPECT_EQ(aclDestroyDataBuffer(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(AclTensorDesc, ObjectsMayBeDestroyedAfterFinalizeButNotUsed) {
  aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, 0);
  aclTensorDesc* desc = create({1});
  aclFinalize();
  EXPECT_EQ(aclUpdateDataBuffer(buffer, nullptr, 1), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 0u);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
  aclDestroyTensorDesc(desc);
}

}  // namespace
}  // namespace anynpu::acl
