// SPDX-License-Identifier: Apache-2.0
// Kernels on tiles by the software engine, on every processor. Where AMX is there, the kernels of
// the list run its instructions in the tests of gemm and conv, and here beside the loops.
#include "ops/amx/amx.h"

#include <cstring>
#include <random>

#include "ops/amx/product.h"
#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

KernelDef kernel_of(const OpContext& context, bool instructions) {
  const bool conv = context.schema->name.ends_with("Conv");
  KernelDef def;
  def.op = context.schema->name;
  def.name = "tiles";
  def.types = {DType::bf16};
  if (conv) {
    def.create =
        instructions ? amx::create_conv<amx::amx_engine> : amx::create_conv<amx::software_engine>;
  } else {
    def.create =
        instructions ? amx::create_gemm<amx::amx_engine> : amx::create_gemm<amx::software_engine>;
  }
  return def;
}

// Small whole numbers: products and sums are exact in f32, in whatever order they are made.
void fill_with_whole_numbers(OpCase& op_case) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> small(-3, 3);
  for (auto& bytes : op_case.data()) {
    for (size_t i = 0; i + sizeof(BF16) <= bytes.size(); i += sizeof(BF16)) {
      const BF16 value = to_bf16(static_cast<float>(small(random)));
      std::memcpy(bytes.data() + i, &value, sizeof(value));
    }
  }
}

// The results of the tiles are the very bytes of the reference, which rounds once as well.
void expect_exact(const char* text) {
  auto op_case = OpCase::parse(text);
  ASSERT_TRUE(op_case.ok()) << text << ": " << op_case.status().to_string();
  fill_with_whole_numbers(*op_case);
  const auto context = op_case->context();
  ASSERT_TRUE(context.ok()) << text;
  const bool conv = context->schema->name.ends_with("Conv");
  const Status takes = conv ? amx::check_conv(*context) : amx::check_gemm(*context);
  ASSERT_TRUE(takes.ok()) << text << ": " << takes.to_string();
  const auto kernels = Registry::instance().kernels(context->schema->name, context->schema->domain);
  const auto expected = op_case->run(*kernels.back(), Layout::plain);
  ASSERT_TRUE(expected.ok()) << text;
  for (const bool instructions : {false, true}) {
    if (instructions && !amx::check_amx().ok()) continue;
    for (const Layout layout : {Layout::plain, Layout::blocked16}) {
      if (!conv && layout != Layout::plain) continue;
      const auto actual = op_case->run(kernel_of(*context, instructions), layout);
      ASSERT_TRUE(actual.ok()) << text << ": " << actual.status().to_string();
      EXPECT_TRUE(*actual == *expected) << text << (instructions ? ", amx" : ", software");
    }
  }
}

TEST(AmxGemm, ProductsAreExactForEveryRemainderOfRowsColumnsAndK) {
  for (const int m : {1, 15, 16, 17, 32, 33}) {
    for (const int n : {1, 16, 31, 33}) {
      for (const int k : {1, 2, 31, 32, 33, 65}) {
        expect_exact(format("MatMul shape={}x{},{}x{} dtype=bfloat16", m, k, k, n).c_str());
      }
    }
  }
}

TEST(AmxGemm, LongSumsGoOnFromOneChunkOfKToTheNext) {
  expect_exact("MatMul shape=40x1025,1025x300 dtype=bfloat16");
  expect_exact("MatMul shape=300x1600,1600x40 const=1 dtype=bfloat16");
}

TEST(AmxGemm, TransposesBatchesBiasResidualAndActivation) {
  for (const char* text :
       {"Gemm shape=1x100,33x100,33 transB=1 dtype=bfloat16",
        "Gemm shape=64x17,64x50,50 transA=1 alpha=2 beta=4 dtype=bfloat16",
        "MatMul shape=2x1x17x20,3x20x31 dtype=bfloat16",
        "MatMul shape=1x3x17x20,20x31 const=1 dtype=bfloat16",
        "MatMul shape=0x4,4x3 dtype=bfloat16", "MatMul shape=2x3x0,2x0x4 dtype=bfloat16",
        "FusedMatMul shape=2x17x21,21x40,40,2x17x40 activation=Relu const=1,2 domain=anynpu "
        "opset=1 dtype=bfloat16",
        "FusedGemm shape=4x40,16x40,16 transB=1 activation=Clip activation_min=-2 "
        "activation_max=5 domain=anynpu opset=1 dtype=bfloat16"}) {
    expect_exact(text);
  }
}

TEST(AmxConv, ConvolutionsAreExactForOddSizesPadsStridesAndDilations) {
  for (const char* text :
       {"Conv shape=1x16x5x5,16x16x1x1 dtype=bfloat16",
        "Conv shape=2x24x7x9,40x24x3x3,40 pads=1,1,1,1 dtype=bfloat16",
        "Conv shape=1x64x14x14,64x64x3x3,64 pads=1,1,1,1 strides=2,2 dtype=bfloat16",
        "Conv shape=3x17x6x5,33x17x3x2 pads=0,1,2,0 strides=1,2 dtype=bfloat16",
        "Conv shape=1x32x9x9,16x32x3x3,16 dilations=2,2 pads=2,2,2,2 dtype=bfloat16",
        "Conv shape=2x20x19,36x20x5,36 pads=2,2 dtype=bfloat16",
        "Conv shape=1x128x8x8,64x128x3x3,64 pads=1,1,1,1 dtype=bfloat16",
        "FusedConv shape=2x32x7x7,48x32x1x1,48,2x48x7x7 activation=Relu domain=anynpu opset=1 "
        "dtype=bfloat16"}) {
    expect_exact(text);
  }
}

TEST(AmxConv, LeavesToOthersWhatFillsNoTile) {
  const auto refused = [](const char* text) {
    const auto op_case = OpCase::parse(text);
    const auto context = op_case->context();
    return amx::check_conv(*context).message();
  };
  EXPECT_NE(refused("Conv shape=1x3x8x8,16x3x3x3 dtype=bfloat16").find("3 input channels"),
            std::string::npos);
  EXPECT_NE(refused("Conv shape=1x32x8x8,32x1x3x3 group=32 dtype=bfloat16").find("32 groups"),
            std::string::npos);
}

TEST(AmxTiles, ResultsRoundOnceKeepNanAndTakeDenormalsAsZero) {
  using namespace amx;
  const Engine& engine = software_engine();
  std::vector<BF16> a(kStepElements), b(kStepElements);
  a[0] = BF16{0x0001};  // a denormal times 2^100
  b[0] = to_bf16(0x1p100f);
  a[static_cast<size_t>(left_offset(1, 0))] = BF16{0x7fc0};  // row 1: NaN
  std::vector<float> sums(kBlockSums);
  Job job;
  job.a = a.data(), job.b = b.data();
  job.row_panels = job.column_panels = job.steps = 1;
  job.sums = sums.data();
  engine.multiply(job);
  EXPECT_EQ(sums[0], 0.0f);
  EXPECT_NE(sums[kRows], sums[kRows]);
  const std::vector<float> bias(kRows);
  std::vector<BF16> out(kRows);
  Finish finish;
  finish.bias = bias.data();
  finish.out = out.data();
  finish.clamp = true;
  finish.max = 6;
  std::vector<float> values(kRows, 1.00390625f);  // halfway between two bf16: to even
  values[1] = NAN;
  values[2] = -1;
  values[3] = 7;
  engine.finish(finish, values.data());
  EXPECT_EQ(to_float(out[0]), 1.0f);
  EXPECT_NE(to_float(out[1]), to_float(out[1]));
  EXPECT_EQ(to_float(out[2]), 0.0f);
  EXPECT_EQ(to_float(out[3]), 6.0f);
}

TEST(AmxProduct, TheCutOfTheWorkLeavesChunksOfKAlone) {
  using amx::Product;
  for (const int64_t k : {100, 1024, 1025, 4096}) {
    const amx::RightSide right{k, 512};
    const Product one = Product::cut(amx::software_engine(), right, 49, 1, 1);
    const Product many = Product::cut(amx::software_engine(), right, 49, 1, 64);
    EXPECT_EQ(one.chunk_steps, many.chunk_steps);
    EXPECT_LE(one.tasks(), many.tasks());
    EXPECT_EQ(one.one_chunk(), k <= 1024);
  }
}

TEST(AmxEngine, SaysWhyItIsNotUsed) {
  const Status status = amx::check_amx();
  EXPECT_EQ(std::string(amx::refusal()), status.ok() ? "" : status.message());
  if (!status.ok()) {
    EXPECT_NE(status.message().find("amx_bf16"), std::string::npos);
  }
}

}  // namespace
}  // namespace anynpu::ops
