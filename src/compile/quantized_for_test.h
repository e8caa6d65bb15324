// SPDX-License-Identifier: Apache-2.0
// For tests of the passes over quantised networks: QuantizeLinear and DequantizeLinear in short.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compile/graph_for_test.h"
#include "compile/passes.h"
#include "compile/plan_fusion.h"
#include "ops/simd/lanes_quant.h"

namespace anynpu::compile {

// Graphs of QuantizeLinear and DequantizeLinear.
class QuantizedTest : public PassTest {
 protected:
  using ValueId = graph::ValueId;

  void SetUp() override {
    if (!ops::check_vbmi().ok()) GTEST_SKIP() << ops::check_vbmi().to_string();
  }

  ValueId zero(DType type, int at) {
    graph::Value value =
        graph::tensor_value("zero" + std::to_string(g.graph.values.size()), type, {});
    value.constant = graph::constant_of(std::vector<uint8_t>{static_cast<uint8_t>(at)});
    return g.graph.add_value(value);
  }
  ValueId quantized(ValueId x, float scale, int at, DType type = DType::u8) {
    return node("QuantizeLinear", {x, scalar(scale), zero(type, at)});
  }
  ValueId floats(ValueId x, float scale, int at, DType type = DType::u8) {
    return node("DequantizeLinear", {x, scalar(scale), zero(type, at)});
  }
  // Rounded to bytes and back.
  ValueId rounded(ValueId x, float scale = 0.05f, int at = 128, DType type = DType::u8) {
    return floats(quantized(x, scale, at, type), scale, at, type);
  }
  ValueId weight(const Shape& shape, DType type = DType::i8, int at = 0) {
    std::vector<uint8_t> bytes(static_cast<size_t>(element_count(shape)));
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>(type == DType::i8 ? random_() : 90 + random_() % 70);
    graph::Value value =
        graph::tensor_value("w" + std::to_string(g.graph.values.size()), type, shape);
    value.constant = graph::constant_of(std::move(bytes));
    return floats(g.graph.add_value(value), 0.005f, at, type);
  }

  // What is left, with results within `units` of the last scale.
  std::vector<std::string> after_within(ValueId output, float scale) {
    g.graph.outputs = {output};
    EXPECT_TRUE(infer_and_fold(g.graph).ok());
    const auto before = GraphForTest::run(g.graph);
    const Status status = join_quantized(g.graph);
    EXPECT_TRUE(status.ok()) << status.to_string();
    const auto now = GraphForTest::run(g.graph);
    EXPECT_EQ(now.size(), before.size());
    size_t different = 0;
    for (size_t i = 0; i < std::min(now.size(), before.size()); ++i) {
      EXPECT_NEAR(now[i], before[i], scale * 1.001f) << i;
      different += std::abs(now[i] - before[i]) > scale / 2;
    }
    EXPECT_LE(different, before.size() / 50 + 1);  // only where a sum is near a half
    return GraphForTest::ops(g.graph);
  }

  std::mt19937 random_{3};
};

}  // namespace anynpu::compile
