// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/mindspore.h"

#include <gmock/gmock.h>

#include "import/ge/model_for_test.h"
#include "import/mindspore/model_for_test.h"

namespace anynpu::mindspore {
namespace {

using testing::HasSubstr;

TEST(ImportMindspore, the_bytes_tell_which_file_it_is) {
  MindirText net({2});
  net.node("ReLU", {"net:x"});
  EXPECT_TRUE(import_text(net.text()).ok());
  const std::string air = ge::model_text({ge::graph_message(
      "g", {ge::data_op("x", {2}), {"Relu", "r", {"x:0"}, {}, {}, {}}, ge::output_op({"r:0"})})});
  const auto graph = import_text(air);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->nodes[0].op, "Relu");
}

TEST(ImportMindspore, other_files_are_refused_with_what_they_are) {
  EXPECT_THAT(failure_of("\x89HDF\r\n\x1a\n"), HasSubstr("HDF5"));
  EXPECT_THAT(failure_of("layer { name: \"x\" }"), HasSubstr("text"));
  EXPECT_THAT(failure_of(""), HasSubstr("empty"));
  EXPECT_THAT(import_file("no/such.mindir").status().to_string(), HasSubstr("no/such.mindir"));
}

}  // namespace
}  // namespace anynpu::mindspore
