// SPDX-License-Identifier: Apache-2.0
#include "service/model/trace_fusions.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "service/model/model_for_test.h"
#include "trace/registry.h"
#include "trace/trace.h"

namespace anynpu::service {
namespace {

struct OpInstant {
  std::string text, model;
  uint64_t id = 0;
};

class OpInstants : public trace::DrainVisitor {
 public:
  void on_events(const trace::ThreadInfo&, std::span<const trace::Event> events) override {
    for (const trace::Event& event : events) {
      if (event.category() != trace::Category::op) continue;
      if (event.phase() == trace::Phase::detail) model_ = trace::name_of(event.correlation);
      if (event.phase() != trace::Phase::instant) continue;
      found.push_back({std::string(trace::name_of(event.name)), model_, event.arg});
    }
  }
  std::vector<OpInstant> found;

 private:
  std::string model_;
};

class TraceFusionsTest : public testing::Test {
 protected:
  void SetUp() override { trace::set_mask(trace::bit(trace::Category::op)); }
  void TearDown() override {
    trace::set_mask(0);
    trace::discard();
  }
  static std::vector<OpInstant> traced(const om::Model& model) {
    const auto loaded = exec::ShapedModel::load(std::make_shared<om::Model>(model));
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    trace::discard();
    trace_fusions(model, **loaded, 5);
    OpInstants instants;
    trace::drain(instants);
    return instants.found;
  }
};

TEST_F(TraceFusionsTest, OperatorsThatStandForSeveralHaveALine) {
  om::Model model = compile_relu({2, 3});
  model.meta.name = "net";
  model.meta.origins = {{model.graph.nodes[0].name, {"conv", "relu"}}};
  const auto lines = traced(model);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].id, 5u);
  EXPECT_EQ(lines[0].model, "net");
  const auto fields = split(lines[0].text, '\t');
  ASSERT_EQ(fields.size(), 6u) << lines[0].text;
  EXPECT_EQ(fields[0], model.graph.nodes[0].name);
  EXPECT_EQ(fields[1], "24");
  EXPECT_EQ(fields[2], "24");
  EXPECT_EQ(fields[3], "0") << "no weights";
  EXPECT_EQ(fields[5], "conv;relu");
}

TEST_F(TraceFusionsTest, OperatorsThatStandForThemselvesHaveNone) {
  om::Model model = compile_relu({2, 3});
  model.meta.origins = {{model.graph.nodes[0].name, {model.graph.nodes[0].name}}};
  EXPECT_TRUE(traced(model).empty());
}

TEST_F(TraceFusionsTest, BytesOfOpenShapesAreNotKnown) {
  compile::Options options;
  options.input_shapes = *compile::parse_input_shapes("x:1~4,2");
  om::Model model = compile_relu({-1, 2}, options);
  ASSERT_FALSE(model.graph.nodes.empty());
  model.meta.origins = {{model.graph.nodes[0].name, {"a", "b"}}};
  const auto lines = traced(model);
  ASSERT_EQ(lines.size(), 1u);
  const auto fields = split(lines[0].text, '\t');
  EXPECT_EQ(fields[1], "-");
  EXPECT_EQ(fields[2], "-");
}

TEST_F(TraceFusionsTest, NothingIsSaidWhileOperatorsAreNotCollected) {
  trace::set_mask(0);
  om::Model model = compile_relu();
  model.meta.origins = {{model.graph.nodes[0].name, {"a", "b"}}};
  EXPECT_TRUE(traced(model).empty());
}

}  // namespace
}  // namespace anynpu::service
