// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

// What a user reads about a layer that cannot be taken: the place in the prototxt, the value that
// is there, and what is expected.
struct Case {
  const char* layer;
  const char* sentence;
  const char* dims = "1 4 8 8";
};

TEST(CaffeLayers, NameThePlaceTheValueAndWhatIsExpected) {
  const Case cases[] = {
      {"type: 'Pooling'", "kernel_size is missing or 0; expected kernel_size (or kernel_h"},
      {"type: 'Pooling' pooling_param { pool: STOCHASTIC kernel_size: 2 }",
       "pool is 'STOCHASTIC'; expected MAX or AVE"},
      {"type: 'Pooling' pooling_param { pool: AVE kernel_size: 2 } top: 'mask'",
       "it has a second top, the mask, with pool: AVE; expected MAX without global_pooling"},
      {"type: 'Pooling' pooling_param { kernel_size: 2 kernel_size: 2 kernel_size: 2 }",
       "kernel_size has 3 values; expected 1 or 2"},
      {"type: 'Pooling' pooling_param { kernel_size: two }",
       "net.prototxt:2:72: 'kernel_size' is 'two'; expected"},
      {"type: 'Pooling' pooling_param { kernel_size: -2 }",
       "net.prototxt:2:72: 'kernel_size' is -2; expected 0 to"},
      {"type: 'Pooling' pooling_param: 3", "'pooling_param' is '3'; expected a message in braces"},
      {"type: 'ReLU' bottom: 'x'",
       "it has 2 bottoms and 1 tops; expected 1 and 1: correct its bottom and top lines"},
      {"type: 'Softmax' softmax_param { axis: 4 }",
       "axis is 4; expected -4 to 3 for a bottom of the shape 1x4x8x8"},
      {"type: 'Eltwise' bottom: 'x' eltwise_param { operation: 7 }",
       "operation is '7'; expected PROD, SUM or MAX"},
      {"type: 'Eltwise' bottom: 'x' eltwise_param { coeff: 1 }",
       "it has 1 coeff for 2 bottoms; expected one each"},
      {"type: 'LRN' lrn_param { local_size: 4 }", "local_size is 4; expected an odd number"},
      {"type: 'Reduction' reduction_param { operation: MOST }",
       "operation is 'MOST'; expected SUM, ASUM, SUMSQ or MEAN"},
      {"type: 'Log' log_param { base: 1 }", "base is 1; expected another number"},
      {"type: 'Exp' exp_param { base: -3 }", "base is -3; expected -1 (for e) or a number over 0"},
      {"type: 'Flatten' flatten_param { axis: 2 end_axis: 1 }",
       "end_axis is 1; expected at least 2, the axis it starts at"},
      {"type: 'Reshape' reshape_param { shape { dim: -2 } }",
       "dim is -2; expected an extent, 0 (copy) or -1"},
      {"type: 'Slice' top: 'z' slice_param { slice_dim: 1 slice_point: 1 slice_point: 2 }",
       "expected one point fewer than tops, growing"},
      {"type: 'Slice' top: 'z' top: 'u'",
       "its axis has 4 elements, which do not split into 3 equal tops; give slice_point"},
      {"type: 'ShuffleChannel' shuffle_channel_param { group: 3 }",
       "group is 3; expected a divisor of the 4 channels of its bottom"},
      {"type: 'Reorg' reorg_param { stride: 3 }", "expected multiples of the stride 3"},
      {"type: 'Interp' interp_param { pad_beg: -9 height: 3 width: 3 }",
       "pad_beg and pad_end cut 9 of 8x8 pixels; expected less than either"},
      {"type: 'Pooling' pooling_param { kernel_size: 2 }",
       "its bottom is 3x4; expected N x C x spatial extents", "3 4"},
  };
  for (const Case& one : cases) {
    const std::string message = message_about(one.layer, one.dims);
    EXPECT_NE(message.find(one.sentence), std::string::npos) << one.layer << "\n" << message;
    EXPECT_NE(message.find("net.prototxt:2:"), std::string::npos) << message;
    EXPECT_NE(message.find("in layer 'l' ("), std::string::npos) << message;
  }
}

TEST(CaffeLayers, ATypeIsInTheTableOrRefusedWithAReason) {
  EXPECT_TRUE(layer_function("Convolution"));
  EXPECT_FALSE(layer_function("convolution"));
  EXPECT_TRUE(refusal_of("Convolution").empty());
  EXPECT_TRUE(refusal_of("Input").empty());
  EXPECT_NE(refusal_of("Python").find("Python code"), std::string::npos);
  EXPECT_NE(refusal_of("Accuracy").find("training"), std::string::npos);
  EXPECT_NE(refusal_of("Magic").find("not in this release"), std::string::npos);
}

TEST(CaffeLayers, ThoseWithWeightsNeedThem) {
  Layer layer;
  layer.type = "InnerProduct";
  EXPECT_TRUE(needs_weights(layer));
  layer.type = "ReLU";
  EXPECT_FALSE(needs_weights(layer));
  layer.type = "Scale";
  layer.bottoms = {"x"};
  EXPECT_TRUE(needs_weights(layer));
  layer.bottoms = {"x", "factors"};
  EXPECT_FALSE(needs_weights(layer));
}

}  // namespace
}  // namespace anynpu::caffe
