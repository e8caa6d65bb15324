// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/bottleneck.h"

#include "ops/test_node.h"

namespace anynpu::ops::conv {
namespace {

constexpr const char* kEnd = " domain=anynpu opset=1";

TEST(Bottleneck, EveryKernelAgreesWithTheThreeConvolutions) {
  check_cases({
      "FusedBottleneck shape=1x16x9x10,40x16x1x1,40,40x1x3x3,40,24x40x1x1,24 "
      "depthwise_pads=1,1,1,1 "
      "const=1,2,3,4,5,6 expand_activation=Relu domain=anynpu opset=1",
      "FusedBottleneck shape=2x24x14x15,32x24x1x1,32,32x1x3x3,32,24x32x1x1,24,2x24x14x15 "
      "depthwise_pads=1,1,1,1 const=1,2,3,4,5,6 expand_activation=Clip expand_activation_min=0 "
      "expand_activation_max=6 domain=anynpu opset=1",
      "FusedBottleneck shape=2x20x11x9,_,_,20x1x5x5,_,7x20x1x1 depthwise_pads=2,2,2,2 "
      "depthwise_strides=2,2 "
      "const=3,5 depthwise_activation=Relu project_activation=Relu domain=anynpu opset=1",
      "FusedBottleneck shape=1x4x6x6,8x4x1x1,_,8x1x3x3,_,4x8x1x1 domain=anynpu opset=1",
      "FusedBottleneck shape=0x16x9x9,32x16x1x1,32,32x1x3x3,32,16x32x1x1,16 depthwise_pads=1,1,1,1 "
      "const=1,2,3,4,5,6 domain=anynpu opset=1",
      "FusedBottleneck shape=1x16x9x10,40x16x1x1,40,40x1x3x3,40,24x40x1x1,24 "
      "depthwise_pads=1,1,1,1 "
      "const=1,2,3,4,5,6 expand_activation=Relu domain=anynpu opset=1 dtype=float16",
      "FusedBottleneck shape=1x16x9x10,40x16x1x1,40,40x1x3x3,40,24x40x1x1,24 "
      "depthwise_pads=1,1,1,1 "
      "const=1,2,3,4,5,6 expand_activation=Relu domain=anynpu opset=1 dtype=bfloat16",
  });
}

std::string refusal(const std::string& shapes) {
  const auto op_case = OpCase::parse("FusedBottleneck shape=" + shapes + kEnd);
  return op_case->context().status().message();
}

TEST(Bottleneck, SaysWhichWeightDoesNotFit) {
  EXPECT_NE(refusal("1x4x6x6,8x4,_,8x1x3x3,_,4x8x1x1").find("weight of 'expand'"),
            std::string::npos);
  EXPECT_NE(refusal("1x4x6x6,8x4x1x1,_,8x2x3x3,_,4x8x1x1").find("weight of 'depthwise'"),
            std::string::npos);
  EXPECT_NE(refusal("1x4x6x6,8x4x1x1,_,8x1x3x3,_,4x9x1x1").find("channels"), std::string::npos);
  EXPECT_NE(refusal("1x4x6x6,8x4x1x1,_,8x1x3x3,_,4x8x1x1,_,1x4x6x6").find("tensor to add"),
            std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::conv
