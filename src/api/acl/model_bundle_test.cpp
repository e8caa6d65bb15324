// SPDX-License-Identifier: Apache-2.0
// Bundles through the C functions: null pointers, and threads that load and unload at once.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "om/bundle.h"
#include "om/container.h"
#include "service/model/model_for_test.h"

namespace anynpu::acl {
namespace {

namespace fs = std::filesystem;

class ModelBundleTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    ASSERT_TRUE(om::write_file(service::compile_relu(), path("one")).ok());
    ASSERT_TRUE(om::write_bundle({path("one"), path("one")}, path("all")).ok());
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    fs::remove_all(folder_);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_ = testing::TempDir() + format("model_bundle_test_{}", ::getpid());
};

TEST_F(ModelBundleTest, NullPointersAreWrongParametersAndLoadNothing) {
  uint32_t id = 0;
  EXPECT_EQ(aclmdlBundleLoadFromFile(nullptr, &id), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlBundleLoadFromFile(path("all").c_str(), nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlBundleLoadFromMem(nullptr, 64, &id), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclmdlBundleLoadFromFile(path("all").c_str(), &id), ACL_SUCCESS);
  EXPECT_EQ(aclmdlBundleGetModelNum(id, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlBundleGetModelId(id, 0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlBundleUnload(id), ACL_SUCCESS);
}

TEST_F(ModelBundleTest, OneOfSeveralThreadsUnloadsABundle) {
  constexpr int kThreads = 4, kRounds = 25;
  for (int round = 0; round < kRounds; ++round) {
    uint32_t bundle = 0, model = 0;
    ASSERT_EQ(aclmdlBundleLoadFromFile(path("all").c_str(), &bundle), ACL_SUCCESS);
    ASSERT_EQ(aclmdlBundleGetModelId(bundle, 1, &model), ACL_SUCCESS);
    std::atomic<int> bundles{0}, models{0}, others{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        const aclError single = aclmdlUnload(model), whole = aclmdlBundleUnload(bundle);
        models += single == ACL_SUCCESS;
        bundles += whole == ACL_SUCCESS;
        others += single != ACL_SUCCESS && single != ACL_ERROR_GE_EXEC_MODEL_ID_INVALID;
        others += whole != ACL_SUCCESS && whole != ACL_ERROR_INVALID_BUNDLE_MODEL_ID;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(bundles, 1);
    EXPECT_EQ(models, 1) << "the first thread to come unloads it by itself";
    EXPECT_EQ(others, 0);
  }
}

}  // namespace
}  // namespace anynpu::acl
