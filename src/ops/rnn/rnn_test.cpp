// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/test_node.h"

namespace anynpu::ops::rnn {
namespace {

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Rnn, EveryKernelAgreesWithTheReferenceInBothDirectionsAndLayouts) {
  check_cases({"RNN shape=3x2x5,1x7x5,1x7x7,1x14 outputs=2",
               "RNN shape=3x2x5,1x7x5,1x7x7 activations=Relu const=1,2 outputs=2",
               "RNN shape=4x3x5,2x17x5,2x17x17 direction=bidirectional activations=Tanh,Sigmoid",
               "RNN shape=3x2x5,1x7x5,1x7x7 direction=reverse clip=0.75 dtype=float16",
               "RNN shape=2x3x5,1x7x5,1x7x7 opset=14 layout=1 outputs=2",
               "RNN shape=0x2x5,1x7x5,1x7x7 outputs=2", "RNN shape=3x0x5,1x7x5,1x7x7 outputs=2",
               "RNN shape=3x2x0,1x7x0,1x7x7 outputs=2"},
              25);
}

TEST(Gru, EveryKernelAgreesWithTheReferenceWithResetBeforeAndBehindTheProduct) {
  check_cases({"GRU shape=3x2x5,1x21x5,1x21x7,1x42 outputs=2",
               "GRU shape=3x2x5,1x21x5,1x21x7,1x42 linear_before_reset=1 const=1,2 outputs=2",
               "GRU shape=4x5x6,2x48x6,2x48x16,2x96,_,2x5x16 direction=bidirectional outputs=2",
               "GRU shape=4x5x6,2x48x6,2x48x16,2x96,_,2x5x16 direction=bidirectional "
               "linear_before_reset=1 const=2 outputs=2",
               "GRU shape=3x2x5,1x21x5,1x21x7 clip=0.5 direction=reverse dtype=bfloat16",
               "GRU shape=2x3x5,1x21x5,1x21x7,1x42,_,2x1x7 opset=14 layout=1 outputs=2",
               "GRU shape=3x1x5,1x99x5,1x99x33 outputs=2"},
              24);
}

TEST(Lstm, EveryKernelAgreesWithTheReferenceWithPeepholesAndClip) {
  check_cases(
      {"LSTM shape=3x2x5,1x28x5,1x28x7,1x56 outputs=3",
       "LSTM shape=3x2x5,1x28x5,1x28x7,1x56,_,1x2x7,1x2x7,1x21 const=1,2 outputs=3",
       "LSTM shape=4x5x6,2x64x6,2x64x16,2x128,_,2x5x16,2x5x16,2x48 direction=bidirectional "
       "outputs=3",
       "LSTM shape=3x2x5,1x28x5,1x28x7,1x56,_,_,_,1x21 input_forget=1 clip=0.5 outputs=3",
       "LSTM shape=3x2x5,1x28x5,1x28x7 direction=reverse activations=Sigmoid,Relu,Tanh",
       "LSTM shape=2x3x5,1x28x5,1x28x7,1x56,_,2x1x7,2x1x7 opset=14 layout=1 outputs=3",
       "LSTM shape=3x1x5,1x132x5,1x132x33 dtype=float16", "LSTM shape=3x2x5,1x28x5,1x28x7 const=1"},
      28);
}

TEST(Rnn, SequencesEndWhereTheirLengthsSay) {
  check_cases({"LSTM shape=6x5x3,2x12x3,2x12x3,2x24,5 dtype=float32,float32,float32,float32,int32 "
               "direction=bidirectional outputs=3",
               "GRU shape=6x5x3,2x9x3,2x9x3,2x18,5 dtype=float32,float32,float32,float32,int32 "
               "direction=bidirectional outputs=2 seed=5",
               "RNN shape=5x6x3,1x3x3,1x3x3,1x6,5 dtype=float32,float32,float32,float32,int32 "
               "direction=reverse opset=14 layout=1 outputs=2 seed=9"},
              12);
}

// More than one chunk of time, and steps large enough to be shared by threads. Small weights: what
// one step rounds must not grow from step to step.
TEST(Rnn, LongSequencesAndLargeStepsAgreeWithTheReference) {
  for (const char* text : {"GRU shape=620x1x4,1x600x4,1x600x200 const=1,2 outputs=2",
                           "LSTM shape=2x33x8,1x400x8,1x400x100 outputs=3",
                           "RNN shape=2x9x8,1x400x8,1x400x400 const=1,2 outputs=2"}) {
    auto op_case = OpCase::parse(text);
    ASSERT_TRUE(op_case.ok()) << text << ": " << op_case.status().to_string();
    for (const size_t input : {1, 2}) {
      auto values = floats_of(op_case->data()[input]);
      for (float& value : values) value /= 64;
      std::memcpy(op_case->data()[input].data(), values.data(), op_case->data()[input].size());
    }
    const Status status = check_all_kernels(*op_case);
    EXPECT_TRUE(status.ok()) << text << ": " << status.to_string();
  }
}

TEST(Rnn, OtherActivationsAreLeftToTheReference) {
  const auto op_case = OpCase::parse("RNN shape=3x2x5,1x7x5,1x7x7 activations=Softsign");
  ASSERT_TRUE(op_case.ok());
  const auto context = op_case->context();
  ASSERT_TRUE(context.ok());
  const auto kernel = choose_kernel(*context);
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->name, "reference");
}

TEST(GRU, StartsFromItsState) {
  // Zero weights: the update gate is 1/2 and the candidate 0, so the state halves.
  TestNode node("GRU", 14);
  node.floats({1, 1, 1}, {1})
      .floats({1, 3, 1}, {0, 0, 0})
      .floats({1, 3, 1}, {0, 0, 0})
      .absent()
      .absent()
      .floats({1, 1, 1}, {8});
  EXPECT_EQ(node.evaluate(), (std::vector<float>{4}));
}

}  // namespace
}  // namespace anynpu::ops::rnn
