// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "import/onnx/model_for_test.h"
#include "import/op_report.h"

namespace anynpu::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(OnnxReport, NamesEveryNodeAndWhyItCannotBeRead) {
  WireWriter graph;
  graph.message(1, node("Relu", "first", {"x"}, {"a"}));
  graph.message(1, node("NoSuchOp", "second", {"a"}, {"y"}));
  graph.message(11, value_info("x", {"3"}));
  graph.message(12, value_info("y", {"3"}));
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("report_" + std::to_string(::getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << model_of(graph);
  const auto reports = report_operators(path.string());
  std::filesystem::remove(path);
  ASSERT_TRUE(reports.ok()) << reports.status().to_string();
  ASSERT_EQ(reports->size(), 2u);
  EXPECT_EQ((*reports)[0].name, "first");
  EXPECT_EQ((*reports)[0].opset, 13);
  EXPECT_TRUE((*reports)[0].cause.empty());
  EXPECT_THAT((*reports)[1].cause, HasSubstr("NoSuchOp"));
}

TEST(OnnxReport, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(report_operators("/nowhere/m.onnx").status().to_string(),
              HasSubstr("/nowhere/m.onnx"));
}

}  // namespace
}  // namespace anynpu::onnx
