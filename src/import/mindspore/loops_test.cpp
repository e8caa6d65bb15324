// SPDX-License-Identifier: Apache-2.0
// Loops that MindSpore exported run in tests/python/models/test_mindspore.py; this is what is no
// loop.
#include <gmock/gmock.h>

#include "import/mindspore/model_for_test.h"

namespace anynpu::mindspore {
namespace {

using testing::HasSubstr;

// A file whose main graph calls the function f, which consists of `node`.
std::string with_function(const std::string& reference, const std::string& input) {
  WireWriter info, call, main, result, parameter, inner, function, made, file;
  info.text(1, "main:x");
  info.message(2, tensor_message({2}));
  call.text(1, "main:x");
  call.text(2, "main:y");
  call.text(3, "main:y");
  call.text(4, "REF::f");
  main.text(2, "main");
  main.message(5, info);
  main.message(1, call);
  result.text(1, "main:y");
  main.message(6, result);
  parameter.text(1, "f:x");
  inner.text(1, input);
  inner.text(2, "f:y");
  inner.text(3, "f:y");
  inner.text(4, reference);
  made.text(1, "f:y");
  function.text(2, "f");
  function.message(5, parameter);
  function.message(1, inner);
  function.message(6, made);
  file.text(1, "1.1");
  file.message(7, main);
  file.message(8, function);
  WireWriter primitive;
  primitive.text(1, "ReLU:1");
  primitive.text(2, "ReLU");
  file.message(12, primitive);
  return file.take();
}

TEST(LoopsTest, a_function_is_called_in_place) {
  const auto graph = import_text(with_function("REF::ReLU:1", "f:x"));
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph->nodes.size(), 1u);
  EXPECT_EQ(graph->nodes[0].op, "Relu");
}

TEST(LoopsTest, a_function_that_only_calls_itself_is_refused) {
  EXPECT_THAT(failure_of(with_function("REF::f", "f:x")), HasSubstr("in a way that is no loop"));
}

}  // namespace
}  // namespace anynpu::mindspore
