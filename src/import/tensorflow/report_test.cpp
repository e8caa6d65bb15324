// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "import/op_report.h"
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfReport, TellsOfEveryNodeWhetherItCanBeRead) {
  TestGraph graph;
  graph.input("x", {2}).node("a", "Relu", {"x"}).node("b", "NobodyKnows", {"a"});
  const std::string path =
      std::filesystem::temp_directory_path() / ("tf_report_" + std::to_string(::getpid()) + ".pb");
  std::ofstream(path, std::ios::binary) << graph.bytes();
  const auto reports = report_nodes(path);
  std::remove(path.c_str());
  ASSERT_TRUE(reports.ok()) << reports.status().to_string();
  ASSERT_EQ(reports->size(), 3u);
  EXPECT_EQ((*reports)[1].cause, "");
  EXPECT_NE((*reports)[2].cause, "");
}

}  // namespace
}  // namespace anynpu::tensorflow
