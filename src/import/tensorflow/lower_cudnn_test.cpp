// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

// Two units on three features: 4 * (2 * 3 + 2 * 2 + 2 * 2) parameters of an LSTM.
TestGraph layer(const std::string& mode, int64_t parameters,
                const std::vector<TestAttr>& more = {}) {
  TestGraph graph;
  graph.input("x", {5, 1, 3}).input("h", {1, 1, 2}).input("c", {1, 1, 2});
  graph.floats("p", {parameters});
  std::vector<TestAttr> attrs = {text_of("rnn_mode", mode)};
  attrs.insert(attrs.end(), more.begin(), more.end());
  return graph.node("y", "CudnnRNN", {"x", "h", "c", "p"}, attrs);
}

TEST(TfCudnn, OneLayerIsOneOperator) {
  EXPECT_NE(layer("lstm", 56).ops().find("LSTM"), std::string::npos) << layer("lstm", 56).ops();
  EXPECT_NE(layer("gru", 42).ops().find("GRU"), std::string::npos) << layer("gru", 42).ops();
  EXPECT_NE(layer("rnn_relu", 14).ops().find("RNN"), std::string::npos);
  EXPECT_EQ(layer("lstm", 56).shape(), "5x1x2");
}

TEST(TfCudnn, ParametersOfAnotherNumberAreRefused) {
  const std::string said = layer("lstm", 60).shape();
  EXPECT_NE(said.find("it has 60 parameters; 1 layers of 2 units on 3 features have 56"),
            std::string::npos)
      << said;
}

TEST(TfCudnn, DropoutOfTrainingIsRefused) {
  const std::string said = layer("lstm", 56, {float_of("dropout", 0.5f)}).shape();
  EXPECT_NE(said.find("is_training=False"), std::string::npos) << said;
  EXPECT_EQ(layer("lstm", 56, {float_of("dropout", 0.5f), flag_of("is_training", false)}).shape(),
            "5x1x2");
}

}  // namespace
}  // namespace anynpu::tensorflow
