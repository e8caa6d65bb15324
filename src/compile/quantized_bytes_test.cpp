// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/quantized.h"
#include "compile/quantized_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;

using QuantizedBytesTest = QuantizedTest;

TEST_F(QuantizedBytesTest, SignedBytesBecomeUnsignedOnes) {
  const ValueId bytes = quantized(g.input("x", {3, 70}), 0.05f, 0xf0, DType::i8);
  g.graph.outputs = {floats(bytes, 0.05f, 0xf0, DType::i8)};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  const auto before = GraphForTest::run(g.graph);
  make_bytes_unsigned(g.graph);
  EXPECT_EQ(g.graph.values[static_cast<size_t>(bytes)].dtype, DType::u8);
  EXPECT_EQ(byte_scale(g.graph, g.graph.nodes[0]), (ByteScale{0.05f, 0x70}));
  EXPECT_EQ(GraphForTest::run(g.graph), before);
}

TEST_F(QuantizedBytesTest, BytesThatAnotherOperatorReadsStaySigned) {
  const ValueId bytes = quantized(g.input("x", {3, 70}), 0.05f, 3, DType::i8);
  g.graph.outputs = {reshape(bytes, {210}), floats(bytes, 0.05f, 3, DType::i8)};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  make_bytes_unsigned(g.graph);
  EXPECT_EQ(g.graph.values[static_cast<size_t>(bytes)].dtype, DType::i8);
}

}  // namespace
}  // namespace anynpu::compile
