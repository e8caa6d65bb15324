// SPDX-License-Identifier: Apache-2.0
#include "compile/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

// A folder of its own, and the variables that a test sets, for one test.
class StagesTest : public testing::Test {
 protected:
  StagesTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("stages_test_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    g.graph.outputs = {g.node("Relu", {g.input("x", {2})}, "y")};
    set("DUMP_GRAPH_PATH", folder_.string());
  }
  ~StagesTest() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
    std::filesystem::remove_all(folder_);
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  size_t files() const {
    if (!std::filesystem::exists(folder_)) return 0;
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  std::filesystem::path folder_;
  std::vector<std::string> set_;
  GraphForTest g;
};

TEST_F(StagesTest, NothingIsWrittenUnlessItIsAskedFor) {
  StageDump dump("model", {});
  dump(StageDump::kBegin, g.graph);
  EXPECT_EQ(files(), 0u);
}

TEST_F(StagesTest, EachStageIsAFileWithANumber) {
  set("DUMP_GE_GRAPH", "2");
  set("DUMP_GRAPH_LEVEL", "1");
  StageDump dump("model", {});
  dump(StageDump::kBegin, g.graph);
  dump(StageDump::kBuild, g.graph);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "ge_proto_00000_model_PreRunBegin.txt"));
  std::ifstream file(folder_ / "ge_proto_00001_model_Build.txt");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("Relu_y"));
}

TEST_F(StagesTest, ALevelChoosesTheLastStageAlone) {
  set("DUMP_GE_GRAPH", "2");
  set("DUMP_GRAPH_LEVEL", "3");
  StageDump dump("model", {});
  dump(StageDump::kBegin, g.graph);
  dump(StageDump::kBuild, g.graph);
  EXPECT_EQ(files(), 1u);
}

TEST_F(StagesTest, AWrongNumberIsAWarning) {
  set("DUMP_GE_GRAPH", "7");
  std::string warning;
  StageDump dump("model", [&](const std::string& message) { warning = message; });
  dump(StageDump::kBegin, g.graph);
  EXPECT_THAT(warning, HasSubstr("'7'"));
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace anynpu::compile
