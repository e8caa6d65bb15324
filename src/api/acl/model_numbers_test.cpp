// SPDX-License-Identifier: Apache-2.0
// Numbers that the documents give to single failures of models, dumps and profiling.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_mdl.h"
#include "acl/acl_prof.h"
#include "service/model/model_for_test.h"

namespace anynpu::acl {
namespace {

constexpr uint32_t kNoModel = 65000;

class ModelNumbers : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    bytes_ = *om::to_bytes(service::compile_relu());
    ASSERT_EQ(aclmdlLoadFromMem(bytes_.data(), bytes_.size(), &id_), ACL_SUCCESS);
    dataset_ = aclmdlCreateDataset();
  }
  void TearDown() override {
    EXPECT_EQ(aclmdlDestroyDataset(dataset_), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
  std::vector<std::byte> bytes_;
  aclmdlDataset* dataset_ = nullptr;
  uint32_t id_ = 0;
};

TEST_F(ModelNumbers, IdsThatDoNotExist) {
  size_t count = 0;
  EXPECT_EQ(aclmdlUnload(kNoModel), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
  EXPECT_EQ(aclmdlExecute(kNoModel, dataset_, dataset_), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
  EXPECT_EQ(aclmdlBundleUnload(id_), ACL_ERROR_INVALID_BUNDLE_MODEL_ID);
  EXPECT_EQ(aclmdlBundleGetModelNum(id_, &count), ACL_ERROR_INVALID_BUNDLE_MODEL_ID);
  const uint32_t queue = 4711;
  EXPECT_EQ(aclmdlLoadFromMemWithQ(bytes_.data(), bytes_.size(), &id_, &queue, 1, &queue, 1),
            ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID);
}

TEST_F(ModelNumbers, GearsAndAippThatAModelLacks) {
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, dataset_, 0, 2), ACL_ERROR_MODEL_NOT_DYNAMIC);
  EXPECT_EQ(aclmdlSetDynamicHWSize(id_, dataset_, 0, 2, 2), ACL_ERROR_MODEL_NOT_DYNAMIC);
  aclmdlAIPP* parameters = aclmdlCreateAIPP(1);
  EXPECT_EQ(aclmdlSetInputAIPP(id_, dataset_, 0, parameters), ACL_ERROR_GE_AIPP_NOT_EXIST);
  EXPECT_EQ(aclmdlSetAIPPByInputIndex(id_, dataset_, 0, parameters), ACL_ERROR_GE_AIPP_NOT_EXIST);
  EXPECT_EQ(aclmdlDestroyAIPP(parameters), ACL_SUCCESS);
  aclAippInfo info;
  EXPECT_EQ(aclmdlGetFirstAippInfo(id_, 0, &info), ACL_ERROR_NOT_STATIC_AIPP);
  EXPECT_EQ(aclmdlExecute(id_, dataset_, dataset_), ACL_ERROR_MODEL_INPUT_NOT_MATCH);
}

TEST_F(ModelNumbers, ConfigurationsOfDumps) {
  const std::string path = testing::TempDir() + format("model_numbers_test_{}.json", ::getpid());
  EXPECT_EQ(aclmdlSetDump(path.c_str()), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclmdlInitDump(), ACL_SUCCESS);
  std::ofstream(path) << R"({"dump":{"dump_debug":"on"}})";
  EXPECT_EQ(aclmdlSetDump(path.c_str()), ACL_ERROR_INVALID_DUMP_CONFIG);
  std::ofstream(path) << "{}";
  EXPECT_EQ(aclmdlSetDump(path.c_str()), ACL_ERROR_INVALID_DUMP_CONFIG);
  std::ofstream(path) << "{";
  EXPECT_EQ(aclmdlSetDump(path.c_str()), ACL_ERROR_PARSE_FILE);
  EXPECT_EQ(aclmdlFinalizeDump(), ACL_SUCCESS);
  std::filesystem::remove(path);
}

TEST_F(ModelNumbers, OrderOfProfilingCalls) {
  uint32_t device = 0;
  aclprofConfig* config =
      aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, uint64_t{1} << 62);
  EXPECT_EQ(aclprofFinalize(), ACL_ERROR_PROF_NOT_RUN);
  EXPECT_EQ(aclprofStart(config), ACL_ERROR_PROF_NOT_RUN);
  const std::string folder = testing::TempDir();
  ASSERT_EQ(aclprofInit(folder.c_str(), folder.size()), ACL_SUCCESS);
  EXPECT_EQ(aclprofInit(folder.c_str(), folder.size()), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclprofStart(config), ACL_ERROR_PROF_MODULES_UNSUPPORTED);
  EXPECT_EQ(aclprofInit("a;b", 3), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclprofFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclprofDestroyConfig(config), ACL_SUCCESS);
  EXPECT_EQ(aclprofModelUnSubscribe(kNoModel), ACL_ERROR_INVALID_MODEL_ID);
}

TEST_F(ModelNumbers, StampsThatNobodyRecordsGiveMinusOne) {
  EXPECT_EQ(aclprofMark(nullptr), -1);
  EXPECT_EQ(aclprofPop(), -1);
  EXPECT_EQ(aclprofRangeStop(1), -1);
  EXPECT_EQ(aclprofRangePop(), -1);
}

}  // namespace
}  // namespace anynpu::acl
