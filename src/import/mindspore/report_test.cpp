// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "import/ge/model_for_test.h"
#include "import/mindspore/model_for_test.h"
#include "import/op_report.h"

namespace anynpu::mindspore {
namespace {

Result<std::vector<OpReport>> report_on(const std::string& text) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("report_test_" + std::to_string(::getpid())))
          .string();
  std::ofstream(path, std::ios::binary) << text;
  auto reports = report_operators(path);
  std::filesystem::remove(path);
  return reports;
}

TEST(ReportMindspore, every_primitive_is_listed_and_unknown_ones_have_a_cause) {
  MindirText net({2});
  net.node("Nonsense", {net.node("ReLU", {"net:x"})});
  const auto reports = report_on(net.text());
  ASSERT_TRUE(reports.ok()) << reports.status().to_string();
  ASSERT_EQ(reports->size(), 2u);
  EXPECT_EQ((*reports)[0].type, "ReLU");
  EXPECT_TRUE((*reports)[0].cause.empty());
  EXPECT_EQ((*reports)[1].name, "Default/Nonsense2");
  EXPECT_FALSE((*reports)[1].cause.empty());
}

TEST(ReportMindspore, operators_of_air_files) {
  const auto reports = report_on(ge::model_text(
      {ge::graph_message("g", {ge::data_op("x", {2}), {"Nonsense", "n", {"x:0"}, {}, {}, {}}})}));
  ASSERT_TRUE(reports.ok());
  EXPECT_TRUE((*reports)[0].cause.empty());
  EXPECT_FALSE((*reports)[1].cause.empty());
}

}  // namespace
}  // namespace anynpu::mindspore
