// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

class FuseLayerNormTest : public PassTest {
 protected:
  ValueId layer_norm(ValueId x, bool power, int64_t width) {
    const ValueId mean = node("ReduceMean", {x});
    last().attrs["axes"] = std::vector<int64_t>{-1};
    const ValueId d = node("Sub", {x, mean});
    const ValueId square = power ? node("Pow", {d, scalar(2)}) : node("Mul", {d, d});
    const ValueId variance = node("ReduceMean", {square});
    last().attrs["axes"] = std::vector<int64_t>{-1};
    const ValueId root = node("Sqrt", {node("Add", {variance, scalar(1e-5f)})});
    const ValueId scaled = node("Mul", {g.weight("scale", {width}), node("Div", {d, root})});
    return node("Add", {scaled, g.weight("bias", {width})});
  }
};

TEST_F(FuseLayerNormTest, LayerNormWithPowOrMulBecomesOneNode) {
  for (bool power : {false, true}) {
    g = {};
    const ValueId x = g.input("x", {2, 3, 8});
    EXPECT_THAT(after(fuse_layer_norm, layer_norm(x, power, 8)), ElementsAre("LayerNormalization"));
  }
}

// As tf.nn.batch_normalization writes it.
TEST_F(FuseLayerNormTest, LayerNormWithARateBecomesOneNode) {
  const ValueId x = g.input("x", {2, 3, 8});
  const ValueId mean = node("ReduceMean", {x});
  last().attrs["axes"] = std::vector<int64_t>{-1};
  const ValueId d = node("Sub", {x, mean});
  const ValueId variance = node("ReduceMean", {node("Mul", {d, d})});
  last().attrs["axes"] = std::vector<int64_t>{-1};
  const ValueId root = node("Sqrt", {node("Add", {variance, scalar(1e-5f)})});
  const ValueId rate = node("Mul", {node("Reciprocal", {root}), g.weight("scale", {8})});
  const ValueId rest = node("Sub", {g.weight("bias", {8}), node("Mul", {mean, rate})});
  EXPECT_THAT(after(fuse_layer_norm, node("Add", {node("Mul", {x, rate}), rest})),
              ElementsAre("LayerNormalization"));
}

// As Keras 3 writes it: parameters have the axes of the input.
TEST_F(FuseLayerNormTest, LayerNormOfKerasBecomesOneNode) {
  const ValueId x = g.input("x", {2, 3, 8});
  const ValueId mean = node("ReduceMean", {x});
  last().attrs["axes"] = std::vector<int64_t>{-1};
  const ValueId d = node("Sub", {x, mean});
  const ValueId variance = node("ReduceMean", {node("Mul", {d, d})});
  last().attrs["axes"] = std::vector<int64_t>{-1};
  const ValueId root = node("Sqrt", {node("Add", {variance, scalar(1e-5f)})});
  const ValueId rate = node("Mul", {node("Reciprocal", {root}), g.weight("scale", {1, 1, 8})});
  const ValueId moved = node("Mul", {node("Neg", {mean}), rate});
  const ValueId rest = node("Add", {moved, g.weight("bias", {1, 1, 8})});
  EXPECT_THAT(after(fuse_layer_norm, node("Add", {node("Mul", {x, rate}), rest})),
              ElementsAre("LayerNormalization"));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(g.graph.nodes[0].inputs[1])].shape, Shape{8});
}

// Every way to write the parts, in every combination.
TEST_F(FuseLayerNormTest, AllSpellingsBecomeOneNode) {
  const auto mean = [&](ValueId x) {
    const ValueId y = node("ReduceMean", {x});
    last().attrs["axes"] = std::vector<int64_t>{-1};
    return y;
  };
  int count = 0;
  for (const bool centred : {false, true}) {
    for (const int square : {0, 1}) {
      for (const int rate : {0, 1, 2, 3, 4}) {
        for (const int parameters : {0, 1, 2}) {
          if (!centred && parameters == 2) continue;  // no bias with a root mean square
          g = {};
          const ValueId x = g.input("x", {2, 3, 8});
          const ValueId d = centred ? node("Sub", {x, mean(x)}) : x;
          const ValueId power = square ? node("Pow", {d, scalar(2)}) : node("Mul", {d, d});
          const ValueId sum = node("Add", {mean(power), scalar(1e-5f)});
          ValueId y = d;
          if (rate == 0) y = node("Div", {d, node("Sqrt", {sum})});
          if (rate == 1) y = node("Mul", {d, node("Reciprocal", {node("Sqrt", {sum})})});
          if (rate == 2) y = node("Mul", {node("Div", {scalar(1), node("Sqrt", {sum})}), d});
          if (rate == 3) y = node("Mul", {d, node("Pow", {sum, scalar(-0.5f)})});
          if (rate == 4) y = node("Div", {d, node("Pow", {sum, scalar(0.5f)})});
          if (parameters > 0) y = node("Mul", {g.weight("scale", {8}), y});
          if (parameters > 1) y = node("Add", {y, g.weight("bias", {8})});
          EXPECT_THAT(after(fuse_layer_norm, y),
                      ElementsAre(centred ? "LayerNormalization" : "RMSNormalization"))
              << square << rate << parameters;
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(count, 50);
}

TEST_F(FuseLayerNormTest, AScaleInFrontOfTheQuotientAndRatesWithoutABiasBecomeOneNode) {
  const auto mean = [&](ValueId x) {
    const ValueId y = node("ReduceMean", {x});
    last().attrs["axes"] = std::vector<int64_t>{-1};
    return y;
  };
  for (int form = 0; form < 4; ++form) {
    g = {};
    const ValueId x = g.input("x", {2, 3, 8}), centre = mean(x), d = node("Sub", {x, centre});
    const ValueId root = node("Sqrt", {node("Add", {mean(node("Mul", {d, d})), scalar(1e-5f)})});
    const ValueId scale = g.weight("scale", {8}), bias = g.weight("bias", {8});
    ValueId y = graph::kNoValue;
    if (form == 0) {
      y = node("Add", {node("Div", {node("Mul", {scale, d}), root}), bias});
    } else {
      ValueId rate = node("Reciprocal", {root});
      if (form == 2) rate = node("Mul", {rate, scale});
      const ValueId own = node("Mul", {x, rate});
      y = form == 3 ? node("Sub", {own, node("Mul", {centre, rate})})
                    : node("Add", {own, node("Mul", {node("Neg", {centre}), rate})});
    }
    EXPECT_THAT(after(fuse_layer_norm, y), ElementsAre("LayerNormalization")) << form;
  }
}

// A spelling that is found early renumbers the nodes and values of the graph.
TEST_F(FuseLayerNormTest, NormsOfSeveralSpellingsInOneGraphBecomeOneNodeEach) {
  const ValueId first = layer_norm(g.input("x", {2, 3, 8}), true, 8);
  const ValueId mean = node("ReduceMean", {first});
  last().attrs["axes"] = std::vector<int64_t>{-1};
  const ValueId d = node("Sub", {first, mean}), square = node("Mul", {d, d});
  const ValueId variance = node("ReduceMean", {square});
  last().attrs["axes"] = std::vector<int64_t>{-1};
  const ValueId root = node("Sqrt", {node("Add", {variance, scalar(1e-5f)})});
  EXPECT_THAT(after(fuse_layer_norm, node("Div", {d, root})),
              ElementsAre("LayerNormalization", "LayerNormalization"));
}

TEST_F(FuseLayerNormTest, AScaleAndABiasBehindANormWithoutBecomeItsOwn) {
  const ValueId x = g.input("x", {2, 3, 8});
  const ValueId ones = add_constant(g.graph, "ones", {8}, std::vector<float>(8, 1.0f));
  const ValueId norm = node("LayerNormalization", {x, ones});
  last().opset = 17;
  const ValueId scaled = node("Mul", {norm, g.weight("scale", {8})});
  EXPECT_THAT(after(fuse_layer_norm, node("Add", {g.weight("bias", {8}), scaled})),
              ElementsAre("LayerNormalization"));
  EXPECT_EQ(g.graph.nodes[0].inputs.size(), 3u);
}

TEST_F(FuseLayerNormTest, AScaleOfAnotherWidthBehindANormStays) {
  const ValueId x = g.input("x", {2, 8, 8});
  const ValueId ones = add_constant(g.graph, "ones", {8}, std::vector<float>(8, 1.0f));
  const ValueId norm = node("LayerNormalization", {x, ones});
  last().opset = 17;
  EXPECT_THAT(after(fuse_layer_norm, node("Mul", {norm, g.weight("scale", {8, 1})})),
              ElementsAre("LayerNormalization", "Mul"));
}

TEST_F(FuseLayerNormTest, ANormWhoseDeviationIsReadElsewhereStays) {
  const ValueId x = g.input("x", {2, 3, 8});
  const ValueId y = layer_norm(x, false, 8);
  g.graph.outputs = {y};
  const ValueId other = node("Neg", {g.graph.nodes[5].outputs[0]});
  EXPECT_EQ(after(fuse_layer_norm, node("Add", {y, other})).size(), 11u);
}

// The mean is of another axis: what is left is a root mean square over the last one.
TEST_F(FuseLayerNormTest, LayerNormOverAnotherAxisIsNone) {
  const ValueId x = g.input("x", {2, 8, 8});
  const ValueId y = layer_norm(x, false, 8);
  g.graph.nodes[0].attrs["axes"] = std::vector<int64_t>{1};
  EXPECT_THAT(after(fuse_layer_norm, y),
              ElementsAre("ReduceMean", "Sub", "RMSNormalization", "Add"));
  g = {};
  const ValueId z = g.input("x", {2, 8, 8});
  const ValueId w = layer_norm(z, false, 8);
  g.graph.nodes[3].attrs["axes"] = std::vector<int64_t>{1};  // the variance
  EXPECT_EQ(after(fuse_layer_norm, w).size(), 9u);
}

}  // namespace
}  // namespace anynpu::compile
