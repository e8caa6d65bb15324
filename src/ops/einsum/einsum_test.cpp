// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "ops/test_node.h"

namespace anynpu::ops::einsum {
namespace {

using Floats = std::vector<float>;

TEST(Einsum, MultipliesTransposesAndSums) {
  const auto einsum = [](const char* equation) {
    return TestNode("Einsum")
        .floats({2, 2}, {1, 2, 3, 4})
        .attr("equation", std::string(equation))
        .evaluate();
  };
  EXPECT_EQ(einsum("ij->ji"), (Floats{1, 3, 2, 4}));
  EXPECT_EQ(einsum("ii->i"), (Floats{1, 4}));
  EXPECT_EQ(einsum("ij"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(einsum("...j->..."), (Floats{3, 7}));
  EXPECT_NE(TestNode("Einsum")
                .shape({2, 2})
                .attr("equation", std::string("ijk->i"))
                .shape_text()
                .find("'ijk'"),
            std::string::npos);
}

TEST(Einsum, EveryKernelAgreesWithTheReference) {
  check_cases({"Einsum shape=3x5x7,3x7x9 equation=bij,bjk->bik",
               "Einsum shape=2x3x5x17,2x3x9x17 equation=bhid,bhjd->bhij",
               "Einsum shape=2x5x3x8,2x6x3x8 equation=bqhd,bkhd->bhqk",
               "Einsum shape=2x3x5x6,2x6x3x8 equation=bhqk,bkhd->bqhd",
               "Einsum shape=5x20,20x7 equation=ij,jk->ki",
               "Einsum shape=20x5,7x20 equation=ji,kj->ik",
               "Einsum shape=4x5x6,5x6x3x2 equation=aij,ijkl->akl",
               "Einsum shape=4x6x5,5x6x3 equation=aji,ijk->ak",
               "Einsum shape=5,7 equation=i,j->ij",
               "Einsum shape=70,70 equation=i,i->",
               "Einsum shape=3x70,3x70 equation=bi,bi->b",
               "Einsum shape=3x8x9,3x8x9 equation=bij,bij->b",
               "Einsum shape=3x8x9,3x9x8 equation=bij,bji->b",
               "Einsum shape=3x8x90,3x90 equation=bij,bj->bi",
               "Einsum shape=3x90,3x8x90 equation=bj,bij->bi",
               "Einsum shape=3x90x8,3x90 equation=bji,bj->bi",
               "Einsum shape=5000,5000 equation=i,i->",
               "Einsum shape=90,7x90 equation=j,ij->i",
               "Einsum shape=2x3x20x5,20x5 equation=...ij,ij->...",
               "Einsum shape=2x1x5x6,3x6x4 equation=...ij,...jk->...ik",
               "Einsum shape=4x4x5 equation=iij->ij",
               "Einsum shape=4x4x5 equation=iij->j",
               "Einsum shape=4x4 equation=ii",
               "Einsum shape=3x4x5 equation=ijk->kij",
               "Einsum shape=3x4x5 equation=ijk->k",
               "Einsum shape=3x4x5 equation=ijk->",
               "Einsum shape=3x4x9x2,9x8 equation=ijkl,km->im",
               "Einsum shape=9x9x5,9x8 equation=iij,ik->jk",
               "Einsum shape=3x4,4x5,5x6 equation=ij,jk,kl->il",
               "Einsum shape=3x4,4x5,4x5 equation=ij,jk,jk->ik",
               "Einsum shape=9x4,9x4,9x4 equation=ij,ik,il->jkl",
               "Einsum shape=3x4,4x5x6,7x6,7x2 equation=ij,jkl,ml,mn->ikn",
               "Einsum shape=7,7,7 equation=i,i,i->i",
               "Einsum shape=1x5,3x1 equation=ij,ij->i",
               "Einsum shape=3x4,5x6 equation=ij,kl->jl",
               "Einsum shape=3x0,0x4 equation=ij,jk->ik",
               "Einsum shape=scalar,3x4 equation=,ij->ji",
               "Einsum shape=33x70,70x40 equation=ij,jk->ik dtype=float16",
               "Einsum shape=33x70,70x40 equation=ij,jk->ik dtype=bfloat16",
               "Einsum shape=3x7,7x4 equation=ij,jk->ik dtype=int64"},
              120);
}

// The product of two sums is not the sum of products where an infinity meets a zero.
TEST(Einsum, InfinityTimesZeroIsNotSummedAway) {
  const float inf = std::numeric_limits<float>::infinity();
  auto op_case = OpCase::parse("Einsum shape=2,2 equation=i,j->");
  ASSERT_TRUE(op_case.ok());
  const Floats a{inf, 1}, b{0, 1};
  std::memcpy(op_case->data()[0].data(), a.data(), 8);
  std::memcpy(op_case->data()[1].data(), b.data(), 8);
  const auto context = op_case->context();
  ASSERT_TRUE(context.ok());
  const auto kernel = choose_kernel(*context);
  ASSERT_TRUE(kernel.ok());
  const auto y = op_case->run(**kernel, Layout::plain);
  ASSERT_TRUE(y.ok());
  float sum = 0;
  std::memcpy(&sum, (*y)[0].data(), 4);
  EXPECT_TRUE(std::isnan(sum)) << sum;
}

}  // namespace
}  // namespace anynpu::ops::einsum
