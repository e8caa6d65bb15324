// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "import/caffe/net_for_test.h"
#include "import/op_report.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeReport, NamesEveryLayerAndWhyItCannotBeRead) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("report_" + std::to_string(::getpid()) + ".prototxt");
  std::ofstream(path) << one_layer("type: 'Magic'");
  const auto reports = report_layers(path.string());
  std::filesystem::remove(path);
  ASSERT_TRUE(reports.ok()) << reports.status().to_string();
  EXPECT_EQ(reports->back().type, "Magic");
  EXPECT_THAT(reports->back().cause, HasSubstr("not in this release"));
  EXPECT_FALSE(report_layers("/nowhere/net.prototxt").ok());
}

}  // namespace
}  // namespace anynpu::caffe
