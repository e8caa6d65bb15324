// SPDX-License-Identifier: Apache-2.0
#include "service/dump/dump_paths.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "device/runtime.h"

namespace anynpu::service {
namespace {

namespace fs = std::filesystem;

struct DumpPaths : testing::Test {
  void SetUp() override {
    char name[] = "/tmp/anynpu_dump_paths_XXXXXX";
    folder = mkdtemp(name);
    ASSERT_TRUE(device::Runtime::instance().set_device(0).ok());
  }
  void TearDown() override {
    set_current_config(RuntimeConfig());
    EXPECT_TRUE(
        device::Runtime::instance().reset_device(0, device::Runtime::Reset::count_down).ok());
    fs::remove_all(folder);
  }
  void use(DumpScene scene, bool overflow) const {
    RuntimeConfig config;
    config.dump.emplace();
    config.dump->path = folder;
    config.dump->scene = scene;
    config.dump->overflow = overflow;
    set_current_config(std::move(config));
  }
  std::string folder;
};

TEST_F(DumpPaths, ADumpThatIsOffHasNoPath) {
  for (int kind = 1; kind <= 5; ++kind) EXPECT_EQ(*dump_path(kind), nullptr);
  EXPECT_EQ(dump_path(6).status().code(), Code::invalid_argument);
  EXPECT_EQ(exception_path().status().code(), Code::bad_call_order);
  use(DumpScene::exception_norm, true);
  EXPECT_EQ(*dump_path(1), nullptr);
  EXPECT_EQ(*dump_path(2), folder);
  EXPECT_EQ(*dump_path(4), nullptr);
  EXPECT_EQ(*dump_path(5), folder);
}

TEST_F(DumpPaths, ExceptionsHaveAFolderOfTheirOwnThatProgramsAddTo) {
  use(DumpScene::exception_brief, false);
  EXPECT_EQ(*exception_path(), folder + "/extra-info/data-dump/0/");
  exec::OperatorDump dump;
  dump.inputs.emplace_back().bytes.resize(8);
  for (const char* wrong : {"", "/x", "../x", "a/../../x"}) {
    EXPECT_EQ(save_exception_dump(wrong, nullptr, dump).code(), Code::invalid_argument) << wrong;
  }
  EXPECT_TRUE(save_exception_dump("mine", "tag", dump).ok());
  int files = 0;
  for (const auto& entry : fs::directory_iterator(*exception_path())) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("mine.custom."));
    ++files;
  }
  EXPECT_EQ(files, 1);
}

}  // namespace
}  // namespace anynpu::service
