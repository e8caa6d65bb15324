// SPDX-License-Identifier: Apache-2.0
// Which models and operators are watched, as the dump that is on asks for it.
#include <gtest/gtest.h>

#include "service/dump/dump_control.h"

namespace anynpu::service {
namespace {

class DumpObserversTest : public testing::Test {
 protected:
  void TearDown() override { set_current_config({}); }
  // The dump that is on.
  static void set(DumpConfig dump) {
    if (dump.path.empty()) dump.path = "/tmp/d";
    RuntimeConfig config;
    config.dump = std::move(dump);
    set_current_config(std::move(config));
  }
  static bool watches(const std::string& model, const std::string& layer = "conv1") {
    om::Meta meta;
    meta.name = model;
    const auto observer = observer_for_model(meta, 0);
    return observer && observer->wants("Conv", layer);
  }
};

TEST_F(DumpObserversTest, NothingIsWatchedWithoutADump) {
  EXPECT_FALSE(watches("any"));
  EXPECT_EQ(observer_for_operators(0), nullptr);
}

TEST_F(DumpObserversTest, ANamedModelIsWatchedAndOthersAreNot) {
  DumpConfig dump;
  dump.models = true;
  dump.targets = {{"wanted", {}, {}}, {"layers", {"conv1"}, {}}};
  set(dump);
  EXPECT_FALSE(watches("other"));
  EXPECT_TRUE(watches("wanted"));
  EXPECT_TRUE(watches("layers", "conv1"));
  EXPECT_FALSE(watches("layers", "conv2"));
  EXPECT_EQ(observer_for_operators(0), nullptr);
}

TEST_F(DumpObserversTest, AnEmptyListWatchesEveryModel) {
  DumpConfig dump;
  dump.models = true;
  set(dump);
  EXPECT_TRUE(watches("any"));
}

TEST_F(DumpObserversTest, OverflowsAreSearchedInModelsMadeForIt) {
  om::Meta meta;
  meta.options = {{"status_check", "1"}};
  EXPECT_NE(observer_for_model(meta, 0), nullptr) << "for the status of the device";
  DumpConfig dump;
  dump.overflow = true;
  set(dump);
  EXPECT_NE(observer_for_model(meta, 0), nullptr);
  EXPECT_FALSE(watches("any"));
}

TEST_F(DumpObserversTest, OperatorsAreWatchedForTheirDumpAndForExceptions) {
  DumpConfig dump;
  dump.single_ops = true;
  set(dump);
  EXPECT_NE(observer_for_operators(0), nullptr);
  EXPECT_FALSE(watches("any"));
  dump = {};
  dump.scene = DumpScene::exception_norm;
  set(dump);
  EXPECT_NE(observer_for_operators(0), nullptr);
  EXPECT_TRUE(watches("any"));
}

TEST_F(DumpObserversTest, KernelsPrintIntoTheFolderOfTheDump) {
  EXPECT_TRUE(kernel_dump_target(0).folder.empty());
  DumpConfig dump;
  dump.kernel_data = {"printf"};
  set(dump);
  const KernelDumpTarget target = kernel_dump_target(2);
  EXPECT_TRUE(target.prints);
  EXPECT_FALSE(target.assertions);
  EXPECT_TRUE(target.folder.starts_with("/tmp/d/")) << target.folder;
  EXPECT_TRUE(target.folder.ends_with("/2")) << target.folder;
  dump.kernel_data = {"all"};
  set(dump);
  EXPECT_TRUE(kernel_dump_target(0).assertions);
}

}  // namespace
}  // namespace anynpu::service
