// SPDX-License-Identifier: Apache-2.0
#include "exec/dump_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace anynpu::exec {
namespace {

DumpTensor dumped_floats(std::vector<float> values) {
  DumpTensor tensor{DType::f32, Format::nd, {static_cast<int64_t>(values.size())}, {}, 0};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST(DumpFile, NamesHoldNoCharacterThatSeparatesThem) {
  EXPECT_EQ(dump_word("a.b/c\\d e"), "a_b_c_d_e");
  EXPECT_EQ(dump_file_name("Conv", "layer1/conv.0", 3, 7, 99), "Conv.layer1_conv_0.3.7.99");
}

TEST(DumpFile, TimestampsAreNeverTheSame) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(dump_timestamp());
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(DumpFile, TheHeaderSaysItsLengthAndTheBytesFollowInputsFirst) {
  OperatorDump dump{"Relu", "relu1", {dumped_floats({1, -2})}, {dumped_floats({1, 0})}};
  const std::string bytes = to_bytes(dump, 5);
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  ASSERT_EQ(bytes.size(), 8 + header + 16);
  float values[4];
  std::memcpy(values, bytes.data() + 8 + header, sizeof values);
  EXPECT_EQ(std::vector<float>(values, values + 4), (std::vector<float>{1, -2, 1, 0}));
  EXPECT_NE(bytes.find("relu1"), std::string::npos);
}

TEST(DumpFile, StatisticsLeaveOutWhatIsNotFinite) {
  const OperatorDump dump{"Relu", "relu1", {}, {dumped_floats({3, -1, NAN, INFINITY})}};
  const std::string text = statistics(dump, {"Max", "Min", "Nan", "Positive Inf"});
  const size_t line = text.find('\n') + 1;
  EXPECT_EQ(text.substr(line), "Output,0,float32,4,4,3,-1,1,1\n") << text;
}

TEST(DumpFile, StatisticsHaveAColumnForEachWord) {
  const OperatorDump dump{"Relu", "relu1", {}, {dumped_floats({1})}};
  for (const std::string_view word : statistics_words()) {
    const std::string head = statistics(dump, {std::string(word)});
    EXPECT_EQ(std::count(head.begin(), head.begin() + head.find('\n'), ','), 5) << word;
  }
}

}  // namespace
}  // namespace anynpu::exec
