// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "exec/step_program.h"
#include "graph/tensor_value.h"

namespace anynpu::exec {
namespace {

// A graph of nodes with one input and one output; the shape of an output is fixed or not.
class RegionNet {
 public:
  RegionNet() { start_ = add({4}); }
  graph::ValueId add(Shape shape) {
    return graph_.add_value(graph::tensor_value("v" + std::to_string(graph_.values.size()),
                                                DType::f32, std::move(shape)));
  }
  graph::ValueId node(graph::ValueId from, Shape to) {
    graph::Node node;
    node.op = "Relu";
    node.name = "n" + std::to_string(graph_.nodes.size());
    node.inputs = {from};
    node.outputs = {add(std::move(to))};
    graph_.nodes.push_back(node);
    return node.outputs[0];
  }
  graph::ValueId start() const { return start_; }

  // "P0,1 S2": planned nodes 0 and 1, then node 2 step by step.
  std::string regions() const {
    std::string text;
    for (const Region& region : split_regions(graph_)) {
      if (!text.empty()) text += ' ';
      text += region.planned ? 'P' : 'S';
      for (size_t i = 0; i < region.nodes.size(); ++i)
        text += (i ? "," : "") + std::to_string(region.nodes[i]);
    }
    return text;
  }

 private:
  graph::Graph graph_;
  graph::ValueId start_;
};

TEST(Regions, AGraphOfFixedShapesIsOnePart) {
  RegionNet net;
  net.node(net.node(net.start(), {4}), {4});
  EXPECT_EQ(net.regions(), "P0,1");
}

TEST(Regions, NodesWithUnknownShapesRunStepByStep) {
  RegionNet net;
  const auto found = net.node(net.node(net.start(), {4}), {-1});
  net.node(found, {-1});
  EXPECT_EQ(net.regions(), "P0 S1,2");
}

TEST(Regions, PlannedNodesArePulledTogetherAcrossStepsThatTheyDoNotNeed) {
  RegionNet net;
  net.node(net.start(), {-1});                // 0
  net.node(net.node(net.start(), {4}), {4});  // 1, 2: need nothing of node 0
  EXPECT_EQ(net.regions(), "P1,2 S0");
}

TEST(Regions, APlannedNodeBehindAStepWaitsForIt) {
  RegionNet net;
  const auto unknown = net.node(net.node(net.start(), {4}), {-1});
  const auto fixed_again = net.node(unknown, {4});  // its input is unknown: a step too
  net.node(fixed_again, {4});
  EXPECT_EQ(net.regions(), "P0 S1,2 P3");
}

}  // namespace
}  // namespace anynpu::exec
