// SPDX-License-Identifier: Apache-2.0
#include "service/model/bundles.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "om/bundle.h"
#include "service/model/model_for_test.h"
#include "service/model/model_table.h"

namespace anynpu::service {
namespace {

namespace fs = std::filesystem;

class BundlesTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    fs::create_directories(folder_);
    ASSERT_TRUE(om::write_file(compile_relu(), path("one")).ok());
    ASSERT_TRUE(om::write_bundle({path("one"), path("one")}, path("all")).ok());
  }
  void TearDown() override {
    ServiceTest::TearDown();
    fs::remove_all(folder_);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_ = testing::TempDir() + format("bundles_test_{}", ::getpid());
};

TEST_F(BundlesTest, ModelsOfABundleHaveIdsOfTheirOwn) {
  Bundles& bundles = Bundles::instance();
  const auto bundle = bundles.load_file(path("all").c_str());
  ASSERT_TRUE(bundle.ok()) << bundle.status().to_string();
  EXPECT_EQ(*bundles.model_count(*bundle), 2u);
  const uint32_t first = *bundles.model_id(*bundle, 0), second = *bundles.model_id(*bundle, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(bundles.model_id(*bundle, 2).status().code(), Code::invalid_argument);
  ASSERT_TRUE(ModelTable::instance().remove(first).ok());
  EXPECT_EQ(bundles.model_id(*bundle, 0).status().code(), Code::model_not_found);
  EXPECT_TRUE(bundles.unload(*bundle).ok());
  EXPECT_EQ(ModelTable::instance().find(second).status().code(), Code::model_not_found);
}

TEST_F(BundlesTest, AnIdThatNoBundleHasIsNotFound) {
  Bundles& bundles = Bundles::instance();
  EXPECT_EQ(bundles.unload(1).code(), Code::bundle_not_found);
  EXPECT_EQ(bundles.model_count(1).status().code(), Code::bundle_not_found);
  EXPECT_EQ(bundles.model_id(1, 0).status().code(), Code::bundle_not_found);
  const auto bundle = bundles.load_file(path("all").c_str());
  run_finalizers();
  EXPECT_EQ(bundles.unload(*bundle).code(), Code::bundle_not_found);
}

}  // namespace
}  // namespace anynpu::service
