// SPDX-License-Identifier: Apache-2.0
#include "service/graph_build/graph_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "import/onnx/model_for_test.h"
#include "om/container.h"

namespace anynpu::service {
namespace {

using testing::HasSubstr;

// y = Relu(x), whose batch is open.
std::string relu_model() {
  WireWriter graph;
  graph.message(1, onnx::node("Relu", "relu", {"x"}, {"y"}));
  graph.text(2, "g");
  graph.message(11, onnx::value_info("x", {"batch", "4"}));
  graph.message(12, onnx::value_info("y", {"batch", "4"}));
  return onnx::model_of(graph);
}

graph::Graph parsed() {
  const std::string text = relu_model();
  auto graph = parse_onnx(std::as_bytes(std::span(text)));
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

struct GraphBuild : testing::Test {
  void TearDown() override { end_graph_builds(); }
};

TEST_F(GraphBuild, AParsedModelBecomesAnOfflineModel) {
  const auto bytes = build_graph_model(parsed(), "net", {{"input_shape", "x:2,4"}});
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const auto meta = om::read_meta(*bytes);
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(meta->name, "net");
  ASSERT_EQ(meta->inputs.size(), 1u);
  EXPECT_EQ(meta->inputs[0].shape, (Shape{2, 4}));
}

TEST_F(GraphBuild, OptionsOfAllBuildsCountUnlessABuildHasItsOwn) {
  ASSERT_TRUE(begin_graph_builds({{"ge.socVersion", "Ascend910B1"}}).ok());
  const auto all = build_graph_model(parsed(), "net", {{"input_shape", "x:2,4"}});
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_EQ(om::read_meta(*all)->soc_version, "Ascend910B1");
  const auto own = build_graph_model(parsed(), "net",
                                     {{"input_shape", "x:2,4"}, {"ge.socVersion", "Ascend310P3"}});
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_EQ(om::read_meta(*own)->soc_version, "Ascend310P3");
}

TEST_F(GraphBuild, AWrongValueIsRefusedAndTheOptionsOfBeforeStay) {
  ASSERT_TRUE(begin_graph_builds({{"ge.socVersion", "Ascend910B1"}}).ok());
  EXPECT_EQ(begin_graph_builds({{"ge.socVersion", "Pentium"}}).code(), Code::invalid_argument);
  const auto model = build_graph_model(parsed(), "net", {{"input_shape", "x:2,4"}});
  EXPECT_EQ(om::read_meta(*model)->soc_version, "Ascend910B1");
}

TEST_F(GraphBuild, BytesThatAreNoModelAreRefused) {
  const std::string text = "no model";
  EXPECT_FALSE(parse_onnx(std::as_bytes(std::span(text))).ok());
  EXPECT_FALSE(parse_onnx({}).ok());
  EXPECT_FALSE(parse_onnx_file("/nowhere.onnx").ok());
}

TEST_F(GraphBuild, ASavedModelIsReadBack) {
  const auto bytes = build_graph_model(parsed(), "net", {{"input_shape", "x:2,4"}});
  ASSERT_TRUE(bytes.ok());
  const std::string path = testing::TempDir() + "graph_build_saved_" + std::to_string(::getpid());
  ASSERT_TRUE(save_graph_model(path, *bytes).ok());
  EXPECT_TRUE(om::read_file(path + ".om").ok()) << "the ending was added";
  ASSERT_TRUE(save_graph_model(path + ".om", *bytes).ok());
  EXPECT_FALSE(std::filesystem::exists(path + ".om.om"));
  std::filesystem::remove(path + ".om");
}

TEST_F(GraphBuild, OnlyOfflineModelsAreSaved) {
  const std::string path =
      testing::TempDir() + "graph_build_refused_" + std::to_string(::getpid()) + ".om";
  const std::string text(4096, 'x');
  EXPECT_FALSE(save_graph_model(path, std::as_bytes(std::span(text))).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace anynpu::service
