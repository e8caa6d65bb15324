// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::gemm {
namespace {

TEST(Gemm, TransposesScalesAndAddsTheBroadcastC) {
  EXPECT_EQ(TestNode("Gemm")
                .floats({2, 1}, {1, 2})
                .floats({3, 2}, {1, 2, 3, 4, 5, 6})
                .floats({3}, {1, 1, 1})
                .attr("transA", int64_t{1})
                .attr("transB", int64_t{1})
                .attr("alpha", 2.0f)
                .attr("beta", 0.5f)
                .evaluate(),
            (std::vector<float>{10.5f, 22.5f, 34.5f}));
}

TEST(FusedGemm, ClampsAfterTheSum) {
  EXPECT_EQ(TestNode("FusedGemm", 1, "anynpu")
                .floats({1, 2}, {1, 1})
                .floats({2, 2}, {1, -1, 1, -1})
                .attr("activation", std::string("Relu"))
                .evaluate(),
            (std::vector<float>{2, 0}));
}

TEST(MatMul, TakesVectorsAndBroadcastBatches) {
  EXPECT_EQ(TestNode("MatMul").floats({2}, {1, 2}).floats({2}, {3, 4}).evaluate(),
            (std::vector<float>{11}));
  EXPECT_EQ(TestNode("MatMul").shape({5, 1, 2, 3}).shape({4, 3, 6}).shape_text(), "5x4x2x6");
  EXPECT_EQ(TestNode("MatMul").floats({2, 1, 1}, {2, 3}).floats({1, 2}, {10, 20}).evaluate(),
            (std::vector<float>{20, 40, 30, 60}));
}

TEST(FusedMatMul, AddsARowAndATensorBeforeTheActivation) {
  EXPECT_EQ(TestNode("FusedMatMul", 1, "anynpu")
                .floats({1, 2, 1}, {1, 2})
                .floats({1, 2}, {1, -1})
                .floats({2}, {10, 20})
                .floats({1, 2, 2}, {0, 0, 100, -100})
                .attr("activation", std::string("Relu"))
                .evaluate(),
            (std::vector<float>{11, 19, 112, 0}));
  EXPECT_NE(TestNode("FusedMatMul", 1, "anynpu")
                .shape({2, 3})
                .shape({3, 4})
                .shape({5})
                .shape_text()
                .find("C is 5, expected 4"),
            std::string::npos);
}

TEST(Gemm, RefusesWhatDoesNotFitWithASentence) {
  EXPECT_NE(TestNode("Gemm").shape({1, 3}).shape({4, 5}).shape_text().find("3 and 4 differ"),
            std::string::npos);
  EXPECT_NE(TestNode("Gemm").shape({2, 3}).shape({3, 5}).shape({4}).shape_text().find(
                "broadcasts to 2x5"),
            std::string::npos);
  EXPECT_NE(TestNode("Gemm", 7).shape({2, 3}).shape({3, 5}).shape_text().find("lacks input 2"),
            std::string::npos);
}

TEST(Gemm, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "Gemm shape=1x100,33x100,33 transB=1",
          "Gemm shape=17x64,64x50,50",
          "Gemm shape=64x17,64x50,17x1 transA=1",
          "Gemm shape=3x5,5x7,3x7 alpha=0.5 beta=2",
          "Gemm shape=5x9,9x33",
          "Gemm shape=5x9,9x33,1x33 const=none",
          "Gemm shape=3x5,5x7,7 dtype=float16",
          "Gemm shape=3x5,5x7,7 dtype=int32",
          "FusedGemm shape=4x40,16x40,16 transB=1 activation=Clip activation_min=-1 "
          "activation_max=1 domain=anynpu opset=1",
          "FusedMatMul shape=2x17x20,20x40,40 activation=Gelu const=1,2 domain=anynpu opset=1",
          "FusedMatMul shape=2x17x20,20x31,31,2x17x31 const=1,2 domain=anynpu opset=1",
          "FusedMatMul shape=17x20,20x33,_,17x33 activation=Relu const=1 domain=anynpu opset=1",
          "FusedMatMul shape=3x20x5,3x7x20 transA=1 transB=1 alpha=0.5 domain=anynpu opset=1",
          "FusedMatMul shape=3x5x20,7x20,7 transB=1 activation=GeluTanh const=1 domain=anynpu "
          "opset=1",
          "FusedMatMul shape=1x20,20x3,3 activation=Tanh domain=anynpu opset=1",
          "FusedMatMul shape=0x4,4x3,3 domain=anynpu opset=1",
          "FusedMatMul shape=2x17x21,21x40,40,2x17x40 activation=Gelu const=1,2 domain=anynpu "
          "opset=1 dtype=bfloat16",
          "FusedMatMul shape=3x20x5,3x7x20 transA=1 transB=1 alpha=0.5 domain=anynpu opset=1 "
          "dtype=bfloat16",
          "Gemm shape=1x100,33x100,33 transB=1 dtype=bfloat16",
          "MatMul shape=1x3x17x20,20x31 const=1 dtype=bfloat16",
          "MatMul shape=130x64,64x70 dtype=bfloat16",
          "MatMul shape=2x3x0,2x0x4 dtype=bfloat16",
          "MatMul shape=2x3x17x20,20x31",
          "MatMul shape=2x1x17x20,3x20x31",
          "MatMul shape=4x9,9",
          "MatMul shape=9,2x9x4",
          "MatMul shape=130x300,300x70 const=1",
          "MatMul shape=0x4,4x3",
          "Gemm shape=40x37,37x70,40x70 beta=0.5 alpha=2",
          "Gemm shape=30x16,16x16,scalar",
          "Gemm shape=1x7,7x1,1",
          "Gemm shape=2x300,16x300,16 transB=1",
          "MatMul shape=3x5x64,64x48 const=1",
          "MatMul shape=12x20x8,12x8x20",
          "MatMul shape=2x1x3x4,1x5x4x6 const=1",
          "MatMul shape=2x3x0,2x0x4",
          "MatMul shape=3x4,4x3 dtype=float64",
          "MatMul shape=17x2600,2600x40",  // k in chunks
          "MatMul shape=2x30x1300,2x1300x75",
          "Gemm shape=70x2100,2100x215,215 const=none alpha=2",
          "MatMul shape=3x1300,1300x70 const=1",
          "Gemm shape=1300x20,50x1300,20x50 transA=1 transB=1 alpha=0.5 beta=2",
          "FusedMatMul shape=17x2600,2600x40,40,17x40 activation=Gelu const=1,2 domain=anynpu "
          "opset=1",
          "FusedGemm shape=20x1300,1300x33,33 activation=Relu domain=anynpu opset=1",
          // More weights than the caches keep: the next panel is fetched ahead.
          "FusedMatMul shape=30x900,900x330,330 activation=Gelu const=1,2 domain=anynpu opset=1",
          "MatMul shape=17x2600,2600x135 const=1",
          // Few rows and a matrix that is not constant.
          "FusedMatMul shape=1x1300,70x1300 transB=1 domain=anynpu opset=1",
          "FusedMatMul shape=3x5x1300,3x1300x700 alpha=0.5 domain=anynpu opset=1",
          "FusedMatMul shape=4x6x70,4x33x70 transB=1 domain=anynpu opset=1 dtype=float16",
          "FusedMatMul shape=100x8,100x1100 transA=1 domain=anynpu opset=1 dtype=bfloat16",
          "MatMul shape=2x1x1x17,3x17x5",
          // Both sides in other orders than the tiles read them.
          "FusedMatMul shape=100x33,70x100 transA=1 transB=1 domain=anynpu opset=1",
          "FusedMatMul shape=2x45x100,2x133x100 transB=1 alpha=2 domain=anynpu opset=1",
      },
      100);
}

TEST(FusedGemm, StepsBehindTheActivation) {
  check_cases(
      {
          "FusedGemm domain=anynpu opset=1 shape=5x7,7x40,40 steps=Sigmoid operands=0,0",
          "FusedGemm domain=anynpu opset=1 shape=33x70,70x17,17 activation=Relu steps=Tanh,Mul "
          "operands=0,0,0,1",
          "FusedMatMul domain=anynpu opset=1 shape=2x9x1100,1100x20,20,2x9x20 steps=HardSwish "
          "operands=0,0",
          "FusedMatMul domain=anynpu opset=1 shape=9x20,20x30 steps=Gelu operands=0,0 "
          "dtype=float16",
          "FusedMatMul domain=anynpu opset=1 shape=9x20,20x30 steps=Gelu operands=0,0 "
          "dtype=bfloat16",
      },
      5);
}

}  // namespace
}  // namespace anynpu::ops::gemm
