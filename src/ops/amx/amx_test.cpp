// SPDX-License-Identifier: Apache-2.0
// Kernels on tiles by the software engine, on every processor. Where AMX is there, the kernels of
// the list run its instructions in the tests of gemm and conv, and here beside the loops.
#include <cstring>
#include <random>

#include "ops/amx/product.h"
#include "ops/amx/tiles.h"
#include "ops/attention/attention_amx.h"
#include "ops/conv/bottleneck_amx.h"
#include "ops/conv/conv_amx.h"
#include "ops/gemm/gemm_amx.h"
#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

using Create = decltype(KernelDef::create);

// The kernels of an operator whose name ends so.
struct Tiled {
  std::string_view op;
  Status (*check)(const OpContext&);
  Create software, instructions;
  bool blocked;  // takes and makes blocks of channels
};
constexpr Tiled kTiled[] = {
    {"Conv", conv::check_amx_conv, conv::create_amx_conv<amx::software_engine>,
     conv::create_amx_conv<amx::amx_engine>, true},
    {"FusedBottleneck", conv::check_amx_bottleneck,
     conv::create_amx_bottleneck<amx::software_engine>,
     conv::create_amx_bottleneck<amx::amx_engine>, true},
    {"Attention", attention::check_amx_attention,
     attention::create_amx_attention<amx::software_engine>,
     attention::create_amx_attention<amx::amx_engine>, false},
    {"", gemm::check_amx_gemm, gemm::create_amx_gemm<amx::software_engine>,
     gemm::create_amx_gemm<amx::amx_engine>, false}};

const Tiled& tiled_of(const OpContext& context) {
  for (const Tiled& tiled : kTiled) {
    if (context.schema->name.ends_with(tiled.op)) return tiled;
  }
  return kTiled[0];
}

KernelDef kernel_of(const OpContext& context, Create create) {
  KernelDef def;
  def.op = context.schema->name;
  def.name = "tiles";
  def.types = {DType::bf16};
  def.create = create;
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
  const Tiled& tiled = tiled_of(*context);
  const Status takes = tiled.check(*context);
  ASSERT_TRUE(takes.ok()) << text << ": " << takes.to_string();
  const auto kernels = Registry::instance().kernels(context->schema->name, context->schema->domain);
  const auto expected = op_case->run(*kernels.back(), Layout::plain);
  ASSERT_TRUE(expected.ok()) << text;
  for (const bool instructions : {false, true}) {
    if (instructions && !amx::check_amx().ok()) continue;
    for (const Layout layout : {Layout::plain, Layout::blocked16}) {
      if (!tiled.blocked && layout != Layout::plain) continue;
      const Create create = instructions ? tiled.instructions : tiled.software;
      const auto actual = op_case->run(kernel_of(*context, create), layout);
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
  expect_exact("MatMul shape=290x2080,2080x1040 const=1 dtype=bfloat16");  // in chunks
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
        "Conv shape=2x3x23x21,24x3x7x7,24 pads=3,3,3,3 strides=2,2 dtype=bfloat16",
        "Conv shape=1x3x9x12,16x3x3x3 pads=1,1,1,1 dtype=bfloat16",
        "Conv shape=2x2x30,17x2x9,17 pads=4,0 strides=3 dtype=bfloat16",
        "Conv shape=1x1x11x9,40x1x5x12 pads=2,6,0,7 dilations=2,1 dtype=bfloat16",
        "Conv shape=3x40x7x7,48x40x1x1 strides=2,2 dtype=bfloat16",
        "Conv shape=2x32x11x8,32x32x5x4 pads=3,0,1,2 strides=3,2 dilations=2,1 dtype=bfloat16",
        "Conv shape=2x33x4x6,17x33x3x3 pads=3,2,4,5 dtype=bfloat16",
        "Conv shape=1x64x40x40,32x64x3x3,32 pads=1,1,1,1 dtype=bfloat16",
        "FusedConv shape=2x32x7x7,48x32x1x1,48,2x48x7x7 activation=Relu domain=anynpu opset=1 "
        "dtype=bfloat16"}) {
    expect_exact(text);
  }
}

// The constants, and an activation for each convolution.
std::string bottleneck(const std::string& shapes, const std::string& more) {
  return format(
      "FusedBottleneck shape={} {} const=1,2,3,4,5,6 expand_activation=Relu "
      "depthwise_activation=Clip depthwise_activation_min=-40 depthwise_activation_max=600 "
      "domain=anynpu opset=1 dtype=bfloat16",
      shapes, more);
}

TEST(AmxBottleneck, IsExactForOddSizesStridesPadsAndStrips) {
  for (const auto& [shapes, more] : std::initializer_list<std::pair<const char*, const char*>>{
           {"1x16x9x10,40x16x1x1,40,40x1x3x3,40,24x40x1x1,24", "depthwise_pads=1,1,1,1"},
           {"2x24x23x21,144x24x1x1,144,144x1x3x3,144,32x144x1x1,32",
            "depthwise_pads=1,1,1,1 depthwise_strides=2,2"},
           {"1x20x15x15,33x20x1x1,_,33x1x5x5,_,17x33x1x1,_", "depthwise_pads=2,1,0,3"},
           {"1x8x12x13,70x8x1x1,70,70x1x3x2,70,8x70x1x1",
            "depthwise_dilations=2,1 depthwise_strides=1,2"},
           {"3x64x7x7,200x64x1x1,200,200x1x3x3,200,64x200x1x1,64,3x64x7x7",
            "depthwise_pads=1,1,1,1"},
           {"1x96x14x14,160x96x1x1,160,160x1x3x3,160,48x160x1x1,48",
            "depthwise_pads=1,1,1,1 depthwise_strides=2,2 project_activation=Relu"},
           {"1x16x70x120,48x16x1x1,48,48x1x3x3,48,24x48x1x1,24",
            "depthwise_pads=1,1,1,1 depthwise_strides=2,2"},
           {"1x24x90x40,40x24x1x1,40,40x1x3x3,40,24x40x1x1,24,1x24x90x40",
            "depthwise_pads=1,1,1,1"},
           {"0x16x9x9,32x16x1x1,32,32x1x3x3,32,16x32x1x1,16", "depthwise_pads=1,1,1,1"}}) {
    expect_exact(bottleneck(shapes, more).c_str());
  }
}

TEST(AmxBottleneck, MayBeginWithTheFirstLayer) {
  for (const auto& [shapes, more] : std::initializer_list<std::pair<const char*, const char*>>{
           {"2x3x33x30,32x3x3x3,32,32x1x3x3,32,16x32x1x1,16",
            "expand_pads=1,1,1,1 expand_strides=2,2 depthwise_pads=1,1,1,1"},
           {"1x3x200x180,24x3x3x3,24,24x1x3x3,24,16x24x1x1,16",
            "expand_pads=0,0,1,1 expand_strides=2,2 depthwise_pads=1,1,1,1"},
           {"1x1x9x40,16x1x5x6,_,16x1x3x3,16,8x16x1x1", "expand_pads=2,3,1,3"},
           {"1x2x9x7,16x2x4x4,16,16x1x3x3,16,8x16x1x1", "expand_pads=1,1,1,1"},
           {"1x4x9x2,16x4x1x3,16,16x1x3x1,16,8x16x1x1", "expand_pads=0,1,0,2"}}) {
    expect_exact(bottleneck(shapes, more).c_str());
  }
}

TEST(AmxBottleneck, MayHaveNoExpansion) {
  expect_exact(
      "FusedBottleneck shape=2x40x24x30,_,_,40x1x3x3,40,16x40x1x1,16 depthwise_pads=1,1,1,1 "
      "const=3,4,5,6 "
      "depthwise_activation=Relu domain=anynpu opset=1 dtype=bfloat16");
}

TEST(AmxConv, LeavesToOthersWhatFillsNoTile) {
  const auto refused = [](const char* text) {
    const auto op_case = OpCase::parse(text);
    const auto context = op_case->context();
    return conv::check_amx_conv(*context).message();
  };
  EXPECT_NE(refused("Conv shape=1x8x8x8,16x8x5x5 dtype=bfloat16").find("8 input channels"),
            std::string::npos);
  EXPECT_NE(refused("Conv shape=1x32x8x8,32x1x3x3 group=32 dtype=bfloat16").find("32 groups"),
            std::string::npos);
}

TEST(AmxGemm, LeavesFewRowsOfAConstantToVectors) {
  const auto takes = [](const char* text) {
    return gemm::can_run_amx_gemm(*OpCase::parse(text)->context()).ok();
  };
  EXPECT_FALSE(takes("MatMul shape=1x64,64x32 const=1 dtype=bfloat16"));
  EXPECT_FALSE(takes("MatMul shape=5x1x64,64x32 const=1 dtype=bfloat16"));
  const bool there = amx::check_amx().ok();
  EXPECT_EQ(takes("MatMul shape=2x3x64,64x32 const=1 dtype=bfloat16"), there);
  EXPECT_EQ(takes("MatMul shape=1x64,64x32 dtype=bfloat16"), there);
}

TEST(AmxAttention, AgreesWithTheReferenceForEveryRemainderMaskAndCache) {
  for (const char* text :
       {"FusedAttention shape=1x128x64,1x128x64,1x128x64 heads=1 scale=0.125 dtype=bfloat16 "
        "domain=anynpu opset=1",
        "FusedAttention shape=2x17x48,2x33x48,2x33x24 heads=3 scale=0.5 dtype=bfloat16 "
        "domain=anynpu opset=1",
        "FusedAttention shape=2x70x120,2x197x120,2x197x99,2x3x70x197 heads=3 "
        "dtype=bfloat16,bfloat16,bfloat16,float32 domain=anynpu opset=1",
        "FusedAttention shape=1x40x66,1x2100x66,1x2100x66 heads=2 scale=0.1 dtype=bfloat16 "
        "domain=anynpu opset=1",
        "FusedAttention shape=1x1x5,1x1x5,1x1x3 dtype=bfloat16 domain=anynpu opset=1",
        "FusedAttention shape=1x0x8,1x4x8,1x4x8 heads=2 dtype=bfloat16 domain=anynpu opset=1",
        "Attention shape=2x6x65x32,2x2x65x32,2x2x65x40 is_causal=1 dtype=bfloat16 opset=23",
        "Attention shape=1x4x35x32,1x4x5x32,1x4x5x32,_,1x4x124x32,1x4x124x32 dtype=bfloat16 "
        "outputs=3 softcap=2.0 opset=24",
        "Attention shape=1x2x40x33,1x2x47x33,1x2x47x33 qk_matmul_output_mode=3 outputs=4 "
        "left_window_size=5 right_window_size=3 dtype=bfloat16 opset=25"}) {
    const auto op_case = OpCase::parse(text);
    ASSERT_TRUE(op_case.ok()) << text << ": " << op_case.status().to_string();
    const auto context = op_case->context();
    ASSERT_TRUE(context.ok()) << text << ": " << context.status().to_string();
    ASSERT_TRUE(attention::check_amx_attention(*context).ok()) << text;
    const auto kernels =
        Registry::instance().kernels(context->schema->name, context->schema->domain);
    const auto expected = op_case->run(*kernels.back(), Layout::plain);
    ASSERT_TRUE(expected.ok()) << text;
    for (const bool instructions : {false, true}) {
      if (instructions && !amx::check_amx().ok()) continue;
      const Tiled& tiled = tiled_of(*context);
      const Create create = instructions ? tiled.instructions : tiled.software;
      const auto actual = op_case->run(kernel_of(*context, create), Layout::plain);
      ASSERT_TRUE(actual.ok()) << text << ": " << actual.status().to_string();
      for (size_t i = 0; i < actual->size(); ++i) {
        EXPECT_LE(worst_error(context->outputs[i].dtype, (*actual)[i], (*expected)[i]), 1)
            << text << ", output " << i << (instructions ? ", amx" : ", software");
      }
    }
  }
}

TEST(AmxAttention, LeavesKeysOfOtherTypesToOthers) {
  const auto op_case = OpCase::parse(
      "Attention shape=1x2x40x32,1x2x40x32,1x2x40x32 dtype=bfloat16,bfloat16,float32 opset=23");
  const auto context = op_case->context();
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  EXPECT_NE(attention::check_amx_attention(*context).message().find("V is float32"),
            std::string::npos);
}

// Whichever thread takes which task.
TEST(AmxTiles, TheSameRunGivesTheSameBytes) {
  for (const char* text :
       {"MatMul shape=290x2080,2080x1040 const=1 dtype=bfloat16",
        "FusedAttention shape=2x100x96,2x130x96,2x130x96 heads=3 scale=0.2 dtype=bfloat16 "
        "domain=anynpu opset=1",
        "FusedBottleneck shape=1x64x14x14,384x64x1x1,384,384x1x3x3,384,64x384x1x1,64,1x64x14x14 "
        "depthwise_pads=1,1,1,1 const=1,2,3,4,5,6 expand_activation=Relu domain=anynpu opset=1 "
        "dtype=bfloat16",
        "FusedBottleneck shape=2x16x40x40,96x16x1x1,96,96x1x3x3,96,24x96x1x1,24 "
        "depthwise_pads=1,1,1,1 depthwise_strides=2,2 const=1,2,3,4,5,6 domain=anynpu opset=1 "
        "dtype=bfloat16"}) {
    const auto op_case = OpCase::parse(text);
    ASSERT_TRUE(op_case.ok()) << text << ": " << op_case.status().to_string();
    const auto context = op_case->context();
    ASSERT_TRUE(context.ok()) << text << ": " << context.status().to_string();
    const Tiled& tiled = tiled_of(*context);
    const bool instructions = amx::check_amx().ok();
    const KernelDef kernel =
        kernel_of(*context, instructions ? tiled.instructions : tiled.software);
    const Layout layout = tiled.blocked ? Layout::blocked16 : Layout::plain;
    const auto first = op_case->run(kernel, layout);
    ASSERT_TRUE(first.ok()) << text << ": " << first.status().to_string();
    for (int again = 0; again < (instructions ? 20 : 2); ++again) {
      const auto next = op_case->run(kernel, layout);
      ASSERT_TRUE(next.ok() && *next == *first) << text;
    }
  }
}

TEST(AmxTiles, ResultsRoundOnceKeepNanAndTakeDenormalsAsZero) {
  using namespace amx;
  std::vector<BF16> a(kStepElements), b(kStepElements);
  const auto put = [&](int64_t row, float value) {
    a[static_cast<size_t>(row * kDepth)] = to_bf16(value);
  };
  for (int64_t column = 0; column < kRows; ++column)
    b[static_cast<size_t>(2 * column)] = to_bf16(1);
  a[0] = BF16{0x0001};  // a denormal
  put(1, NAN);
  put(2, -1);
  put(3, 7);
  put(4, 1);  // with the bias halfway between two bf16: to even
  std::vector<float> bias(kPanel, 0x1p-8f);
  std::vector<BF16> out(kBlockSums);
  Epilogue epilogue;
  epilogue.bias = bias.data();
  epilogue.out = out.data();
  epilogue.row_step = kPanel;
  epilogue.tile_step = kRows;
  epilogue.rows = epilogue.columns = kPanel;
  epilogue.clamp = true;
  epilogue.max = 6;
  const int64_t step_at = 0;
  Job job;
  job.a = reinterpret_cast<const std::byte*>(a.data());
  job.row_bytes = kDepth * 2;
  job.step_at = &step_at;
  job.b = b.data();
  job.row_panels = job.column_panels = job.steps = 1;
  job.epilogue = &epilogue;
  PixelProduct pixels;
  pixels.a = a.data();
  pixels.b = b.data();
  pixels.bias = bias.data();
  pixels.out = out.data();
  pixels.block_step = kPanel * kRows;
  pixels.pixels = 19;  // not all of a tile
  pixels.blocks = pixels.steps = 1;
  pixels.max = 6;
  const auto expect_results = [&](int64_t row_step) {
    const auto result = [&](int64_t row) {
      return to_float(out[static_cast<size_t>(row * row_step)]);
    };
    EXPECT_EQ(result(0), 0x1p-8f);
    EXPECT_NE(result(1), result(1));
    EXPECT_EQ(result(2), 0.0f);
    EXPECT_EQ(result(3), 6.0f);
    EXPECT_EQ(result(4), 1.0f);
    EXPECT_EQ(result(18), 0x1p-8f);
  };
  for (const Engine* engine : {&software_engine(), &amx_engine()}) {
    if (engine == &amx_engine() && !check_amx().ok()) continue;
    std::fill(out.begin(), out.end(), BF16{});
    engine->multiply(job);
    expect_results(kPanel);
    std::fill(out.begin(), out.end(), BF16{});
    engine->multiply_pixels(pixels);
    expect_results(kRows);
    EXPECT_EQ(to_float(out[static_cast<size_t>(19 * kRows)]), 0.0f);  // and nothing behind them
  }
}

TEST(AmxCut, TasksCoverTheProductOnce) {
  for (const int64_t m : {1, 31, 49, 196, 3136, 25088}) {
    for (const int64_t n : {1, 64, 1000, 4096}) {
      for (const int64_t threads : {1, 2, 7, 64}) {
        const amx::PackedB right{1152, n};
        const amx::TaskTiling tiling = amx::tile_work(right, m, 2304, threads);
        int64_t covered = 0;
        for (int64_t task = 0; task < tiling.tasks(); ++task) {
          ASSERT_EQ(tiling.first_row(task) % amx::kPanel, 0);
          ASSERT_LT(tiling.first_row(task), tiling.end_row(task));
          ASSERT_LT(tiling.first_panel(task), tiling.end_panel(task));
          covered += (tiling.end_row(task) - tiling.first_row(task)) *
                     (tiling.end_panel(task) - tiling.first_panel(task));
        }
        EXPECT_EQ(covered, m * right.panels()) << m << " " << n << " " << threads;
      }
    }
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
