// SPDX-License-Identifier: Apache-2.0
// Compiles generated kernels with NVRTC. Needs no GPU.
#include <gmock/gmock.h>

#include "cuda/kernels/compiler.h"
#include "cuda/kernels/depthwise.h"
#include "cuda/kernels/epilogue.h"
#include "cuda/kernels/flash_attention.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/reorder.h"
#include "cuda/kernels/warp_norm.h"
#include "ops/backend_kernels.h"
#include "ops/blocked_layout.h"
#include "ops/test_node.h"

namespace anynpu::device::cuda {

namespace {

using ops::Layout;
using ops::TestNode;

constexpr int kHopper = 90;

class GeneratedKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Status there = compiler_available(); !there.ok())
      GTEST_SKIP() << "needs NVRTC: " << there.to_string();
    JitKernel::check_for(kHopper);
    add_kernels();
  }
  void TearDown() override { JitKernel::check_for(0); }

  // Plans with the first GPU kernel that accepts the node, with input 0 in `layout`.
  static Status plan(TestNode node, Layout layout = Layout::plain) {
    ANYNPU_ASSIGN(ops::OpContext context, node.infer());
    context.target.backend = "cuda";
    for (ops::Operand& input : context.inputs) {
      if (input.rank() > 2) input.layout = layout;
    }
    std::string reasons;
    for (const ops::KernelDef* def :
         ops::backend_kernels("cuda", context.schema->name, context.schema->domain)) {
      if (!def->types.has(context.inputs[0].dtype)) continue;
      if (def->can_run) {
        const Status runs = def->can_run(context);
        reasons += runs.ok() ? "" : runs.to_string();
        if (!runs.ok()) continue;
      }
      ANYNPU_ASSIGN(const auto kernel, def->create(context));
      return kernel->plan(context).status();
    }
    return fail(Code::unsupported_op, "no kernel takes it: {}", reasons);
  }
};

#define EXPECT_PLANS(...)                                             \
  {                                                                   \
    const Status planned = plan(__VA_ARGS__);                         \
    EXPECT_TRUE(planned.ok()) << #__VA_ARGS__ << planned.to_string(); \
  }

TEST_F(GeneratedKernels, ElementwiseInBothLayoutsAndWithRepeatedOperands) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    EXPECT_PLANS(TestNode("Relu").shape({2, 16, 5, 7}, type));
    EXPECT_PLANS(TestNode("Relu").shape({2, 16, 5, 7}, type), ops::Layout::channels_last);
    EXPECT_PLANS(TestNode("Mul").shape({2, 16, 5, 7}, type).shape({2, 16, 1, 1}, type),
                 ops::Layout::channels_last);
    EXPECT_PLANS(TestNode("Add").shape({2, 3, 5, 7}, type).shape({7}, type));
    EXPECT_PLANS(TestNode("Add").shape({4, 768}, type).shape({768}, type));
    EXPECT_PLANS(TestNode("Sub").shape({}, type).shape({4, 768}, type));
  }
  EXPECT_PLANS(TestNode("Where").shape({4, 8}, DType::boolean).shape({4, 8}).shape({1}));
  EXPECT_PLANS(TestNode("Cast").attr("to", int64_t{10}).shape({4, 8}));
}

TEST_F(GeneratedKernels, PoolsWithChannelsLast) {
  using Ints = std::vector<int64_t>;
  for (const char* op : {"MaxPool", "AveragePool"}) {
    EXPECT_PLANS(TestNode(op)
                     .attr("kernel_shape", Ints{3, 3})
                     .attr("strides", Ints{2, 2})
                     .attr("pads", Ints{1, 1, 1, 1})
                     .shape({1, 64, 112, 112}, DType::f16),
                 ops::Layout::channels_last);
  }
  EXPECT_PLANS(TestNode("AveragePool")
                   .attr("kernel_shape", Ints{3, 3})
                   .attr("pads", Ints{1, 1, 1, 1})
                   .attr("count_include_pad", int64_t{1})
                   .shape({1, 6, 9, 9}, DType::f16),
               ops::Layout::channels_last);
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"})
    EXPECT_PLANS(TestNode(op).shape({2, 20, 7, 7}, DType::bf16), ops::Layout::channels_last);
}

TEST_F(GeneratedKernels, LayersOfTransformers) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    EXPECT_PLANS(TestNode("LayerNormalization", 17)
                     .shape({4, 768}, type)
                     .shape({768}, type)
                     .shape({768}, type));
    EXPECT_PLANS(TestNode("Softmax").shape({4, 77}, type));
  }
}

TEST_F(GeneratedKernels, ReductionsOfNumbersAlongKnownAxes) {
  for (const DType type : {DType::f16, DType::f32, DType::i32, DType::i8}) {
    EXPECT_PLANS(TestNode("ReduceSum").shape({2, 3, 4}, type).ints({1}));
    EXPECT_PLANS(TestNode("ReduceMax", 18).shape({2, 3, 4}, type).ints({0, -1}));
    EXPECT_PLANS(TestNode("ArgMax").attr("axis", int64_t{1}).shape({2, 3, 4}, type));
  }
  EXPECT_PLANS(TestNode("ReduceLogSumExp", 18).shape({2, 3, 4}).ints({1}));
  EXPECT_PLANS(TestNode("Hardmax").attr("axis", int64_t{1}).shape({2, 3, 4}));
}

TEST_F(GeneratedKernels, IndicesKnownAtRunTime) {
  for (const DType type : {DType::f16, DType::i64, DType::u8}) {
    EXPECT_PLANS(TestNode("Gather").shape({5, 4}, type).shape({3}, DType::i64));
    EXPECT_PLANS(TestNode("GatherElements").shape({5, 4}, type).shape({2, 4}, DType::i32));
    EXPECT_PLANS(TestNode("GatherND").shape({5, 4, 3}, type).shape({2, 2}, DType::i64));
    EXPECT_PLANS(TestNode("ScatterND", 18)
                     .shape({5, 4}, type)
                     .shape({2, 1}, DType::i64)
                     .shape({2, 4}, type));
    EXPECT_PLANS(TestNode("ScatterElements", 18)
                     .shape({5, 4}, type)
                     .shape({2, 3}, DType::i64)
                     .shape({2, 3}, type));
    EXPECT_PLANS(TestNode("Trilu", 14).shape({5, 4}, type).shape({}, DType::i64));
  }
  EXPECT_PLANS(TestNode("CumSum", 14).shape({5, 4}).shape({}, DType::i32));
}

TEST_F(GeneratedKernels, ScaledIntegers) {
  for (const DType type : {DType::u8, DType::i8, DType::u16, DType::i16}) {
    for (const DType real : {DType::f32, DType::f16, DType::bf16}) {
      EXPECT_PLANS(TestNode("QuantizeLinear", 21)
                       .attr("axis", int64_t{1})
                       .shape({2, 3, 4}, real)
                       .shape({3}, real)
                       .shape({3}, type));
      EXPECT_PLANS(
          TestNode("DequantizeLinear", 21).shape({2, 3, 4}, type).shape({}, real).shape({}, type));
      EXPECT_PLANS(TestNode("DequantizeLinear", 21)
                       .attr("axis", int64_t{1})
                       .attr("block_size", int64_t{2})
                       .shape({2, 4, 3}, type)
                       .shape({2, 2, 3}, real));
    }
  }
  EXPECT_PLANS(TestNode("DequantizeLinear").shape({4}, DType::i32).shape({}));
}

TEST_F(GeneratedKernels, LossesInAllTheirForms) {
  for (const char* how : {"none", "sum", "mean"}) {
    EXPECT_PLANS(TestNode("NegativeLogLikelihoodLoss")
                     .attr("reduction", std::string(how))
                     .attr("ignore_index", int64_t{1})
                     .shape({3, 5, 2}, DType::f16)
                     .shape({3, 2}, DType::i64)
                     .shape({5}, DType::f16));
    EXPECT_PLANS(TestNode("SoftmaxCrossEntropyLoss")
                     .attr("reduction", std::string(how))
                     .shape({3, 5})
                     .shape({3}, DType::i32));
  }
}

TEST_F(GeneratedKernels, PadAndResize) {
  EXPECT_PLANS(TestNode("Pad").shape({1, 2, 3, 4}).ints({0, 0, 1, 1, 0, 0, 1, 2}));
  EXPECT_PLANS(TestNode("Resize")
                   .attr("mode", std::string("nearest"))
                   .shape({1, 2, 3, 4}, DType::f16)
                   .absent()
                   .floats({4}, {1, 1, 2, 2}));
  EXPECT_PLANS(TestNode("Resize")
                   .attr("mode", std::string("linear"))
                   .shape({1, 2, 3, 4}, DType::f16)
                   .absent()
                   .floats({4}, {1, 1, 2, 2}));
}

TEST_F(GeneratedKernels, IntegersAndTheirRemainders) {
  for (const DType type : {DType::i8, DType::u16, DType::i64, DType::f32}) {
    EXPECT_PLANS(TestNode("Mod")
                     .attr("fmod", int64_t{type == DType::f32})
                     .shape({4}, type)
                     .shape({1}, type));
    EXPECT_PLANS(TestNode("Div").shape({4}, type).shape({1}, type));
    EXPECT_PLANS(TestNode("Abs").shape({4}, type));
  }
  EXPECT_PLANS(TestNode("BitShift", 11)
                   .attr("direction", std::string("RIGHT"))
                   .shape({4}, DType::u8)
                   .shape({4}, DType::u8));
  EXPECT_PLANS(TestNode("Cast").attr("to", int64_t{7}).shape({4}));
  EXPECT_PLANS(TestNode("Gelu", 20).shape({4}, DType::f16));
}

TEST_F(GeneratedKernels, Attention) {
  ops::attention::AttentionShape a;
  a.batch = 2, a.heads = a.kv_heads = 12, a.rows = 197, a.columns = 197;
  a.size = a.value_size = 64;
  a.scale = 0.125f;
  a.q = a.y = a.key.read = a.value.read = {197 * 768, 64, 768};
  for (const DType type : {DType::f16, DType::bf16}) {
    a.has_mask = false;
    EXPECT_EQ(check_source(flash_source(a, type, type, 4), kHopper).to_string(), "ok");
    a.has_mask = true;
    a.mask_columns = 150;
    a.mask_steps = {197, 0, 0, 1};
    for (const DType mask : {type, DType::f32, DType::boolean})
      EXPECT_EQ(check_source(flash_source(a, type, mask, 2), kHopper).to_string(), "ok");
  }
  a.size = 128, a.value_size = 48;
  EXPECT_EQ(check_source(flash_source(a, DType::f16, DType::f16, 4), kHopper).to_string(), "ok");
}

TEST_F(GeneratedKernels, DepthwiseConvolutions) {
  Depthwise work;
  work.shape.batch = 1;
  work.shape.in_channels = work.shape.out_channels = work.shape.group = 96;
  ops::Window& w = work.shape.window;
  w.kernel = {3, 3}, w.stride = {2, 2}, w.dilation = {1, 1};
  w.pad_begin = w.pad_end = {1, 1};
  w.in = {112, 112}, w.out = {56, 56};
  work.bias = true;
  work.activation = {true, 0, 6};
  work.input_clamp = {true, 0, 6};
  ASSERT_TRUE(can_run_depthwise(work.shape));
  for (const int64_t batch : {1, 64}) {
    work.shape.batch = batch;
    const auto made = make_depthwise(work);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    EXPECT_TRUE((*made)->is_depthwise());
    EXPECT_EQ((*made)->packed_bytes(), size_t{96 * 9 * 2});
  }
}

TEST_F(GeneratedKernels, LayoutConversions) {
  EXPECT_TRUE(make_to_channels_last(DType::f16, 2, 3, 224 * 224, 4, true).ok());
  EXPECT_TRUE(make_to_channels_last(DType::f16, 2, 3, 224 * 224, 8, true).ok());
  EXPECT_TRUE(make_to_channels_last(DType::f16, 2, 20, 49, 24, true).ok());
  EXPECT_TRUE(make_to_channels_last(DType::f16, 2, 20, 49, 24, false).ok());
  EXPECT_TRUE(make_to_channels_last(DType::f16, 2, 64, 49, 64, true).ok());
  EXPECT_TRUE(make_transpose(4, 2, 64, 49).ok());
}

TEST_F(GeneratedKernels, Epilogues) {
  Epilogue epilogue;
  epilogue.type = DType::f16;
  epilogue.activation_code = "v * (C)0.5 * (1 + erf(v * (C)0.70710678118654752))";
  epilogue.has_z = true;
  epilogue.activation = {true, 0, 6};
  const auto made = make_epilogue(epilogue);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_TRUE(made->scalar && made->vectorized);
  epilogue.c_index = "i % 7";
  EXPECT_FALSE(make_epilogue(epilogue)->vectorized);
}

}  // namespace

}  // namespace anynpu::device::cuda
