// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes by vector instructions are those of the plain loop, to the bit.
#include <cmath>
#include <limits>

#include "ops/byte_case.h"

namespace anynpu::ops::conv {
namespace {

// Everything that a convolution may have, drawn.
struct Drawn {
  std::mt19937 random;
  explicit Drawn(unsigned seed) : random(seed) {}
  int64_t any(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  DType byte() { return kByteTypes[any(0, 1)]; }

  ByteCase conv(bool linear, size_t dims) {
    const int64_t groups = any(0, 2) == 0 ? any(2, 5) : 1, batch = any(1, 3);
    const int64_t in = any(1, 9), out = any(1, 31);
    Shape x = {batch, in * groups}, w = {out * groups, in};
    std::vector<int64_t> strides, dilations, pads(2 * dims);
    for (size_t d = 0; d < dims; ++d) {
      const int64_t kernel = any(1, 4), dilation = any(1, 3);
      strides.push_back(any(1, 3));
      dilations.push_back(dilation);
      pads[d] = any(0, 3), pads[dims + d] = any(0, 3);
      w.push_back(kernel);
      x.push_back(std::max<int64_t>(1, (kernel - 1) * dilation + 1) + any(0, dims == 1 ? 300 : 9));
    }
    const DType x_type = byte(), w_type = byte();
    const Shape each = any(0, 1) == 0 ? Shape{} : Shape{out * groups};
    ByteCase made{linear ? "QLinearConv" : "ConvInteger", random};
    if (linear) {
      const std::vector<float> scales(static_cast<size_t>(element_count(each)), 0.013f);
      made.bytes(x_type, x).real(0.02f).bytes(x_type, {}).bytes(w_type, w);
      made.values<float>(DType::f32, each, scales).bytes(w_type, each).real(0.3f).bytes(byte(), {});
      if (any(0, 1) == 0) made.bytes(DType::i32, {out * groups});
    } else {
      made.bytes(x_type, x).bytes(w_type, w);
      if (any(0, 3) > 0) made.bytes(x_type, {}).bytes(w_type, each);
    }
    return made.ints("strides", strides)
        .ints("dilations", dilations)
        .ints("pads", pads)
        .number("group", groups);
  }
};

TEST(QLinearConv, EveryKernelGivesTheBytesOfThePlainLoop) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Drawn drawn(seed);
    drawn.conv(true, 1 + seed % 3).expect_same(seed % 2 == 0 ? 3 : -1);
  }
}

TEST(ConvInteger, EveryKernelGivesTheSumsOfThePlainLoop) {
  for (unsigned seed = 100; seed < 160; ++seed) {
    Drawn drawn(seed);
    drawn.conv(false, 1 + seed % 3).expect_same(seed % 2 == 0 ? 1 : -1);
  }
}

TEST(QLinearConv, LayersOfNetworksAreThoseOfThePlainLoop) {
  for (const DType type : kByteTypes) {
    // First layer, depthwise, pointwise with stride, and a kernel as wide as the input.
    const auto layer = [&](Shape x, Shape w, int64_t group, int64_t stride, int64_t pad) {
      ByteCase made{"QLinearConv"};
      made.bytes(type, std::move(x)).real(0.02f).bytes(type, {}).bytes(DType::i8, w).real(0.01f);
      made.values<int8_t>(DType::i8, {}, {0}).real(0.5f).bytes(type, {});
      made.bytes(DType::i32, {w[0]}).number("group", group);
      made.ints("strides", {stride, stride}).ints("pads", {pad, pad, pad, pad}).expect_same(3);
    };
    layer({1, 3, 33, 35}, {16, 3, 7, 7}, 1, 2, 3);
    layer({1, 24, 15, 15}, {24, 1, 3, 3}, 24, 1, 1);
    layer({2, 24, 15, 16}, {48, 1, 5, 5}, 24, 2, 2);
    layer({1, 32, 9, 9}, {40, 32, 1, 1}, 1, 2, 0);
    layer({1, 2, 40, 50}, {8, 2, 3, 50}, 1, 1, 0);
  }
}

TEST(ConvInteger, LongSumsOfTheLargestBytesWrap) {
  ByteCase{"ConvInteger"}
      .bytes(DType::i8, {1, 70000, 1}, 128, 128)
      .bytes(DType::i8, {1, 70000, 1}, 128, 128)
      .expect_same(1);
}

TEST(QLinearConv, ScalesWithoutBoundsGiveTheBytesOfThePlainLoop) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  for (const DType type : kByteTypes) {
    for (const float scale : {0.0f, kInfinite, -1.0f, 1e-38f, std::nanf("")}) {
      ByteCase made{"QLinearConv"};
      made.bytes(type, {1, 2, 6, 6}).real(0.02f).bytes(type, {}).bytes(type, {3, 2, 2, 2});
      made.real(0.05f).bytes(type, {}).real(scale).bytes(type, {}).expect_same(3);
    }
  }
}

// Sums of one product each, by scales that make many of them halves and others nearly so.
TEST(QLinearConv, HalvesRoundToTheBytesOfThePlainLoop) {
  for (const DType type : kByteTypes) {
    for (const float scale : {2.0f, 0.5f, 16.0f, 2.0000002f, 1.9999999f, 1.0f / 3, 1e-3f, 1e5f}) {
      ByteCase made{"QLinearConv"};
      made.bytes(type, {1, 1, 50, 64}).real(1).bytes(type, {}).bytes(type, {40, 1, 1, 1}).real(1);
      made.bytes(type, {}).real(scale).bytes(type, {}).expect_same(3);
    }
  }
}

TEST(QLinearConv, RefusesParametersThatFitNoChannel) {
  ByteCase made{"QLinearConv"};
  made.bytes(DType::u8, {1, 2, 6, 6}).real(1).bytes(DType::u8, {}).bytes(DType::u8, {3, 2, 2, 2});
  made.values<float>(DType::f32, {2}, {1, 1}).bytes(DType::u8, {}).real(1).bytes(DType::u8, {});
  made.node.op = "QLinearConv", made.node.opset = 13, made.node.outputs = {1000};
  for (int i = 0; i < 8; ++i) made.node.inputs.push_back(i);
  const auto context = infer(made.node, made.operands);
  ASSERT_FALSE(context.ok());
  EXPECT_NE(context.status().to_string().find("1 value or one for each for 3 output channels"),
            std::string::npos)
      << context.status().to_string();
}

}  // namespace
}  // namespace anynpu::ops::conv
