// SPDX-License-Identifier: Apache-2.0
#include "import/ge/json.h"

#include <gmock/gmock.h>

#include "import/ge/model_for_test.h"

namespace anynpu::ge {
namespace {

using testing::HasSubstr;

TEST(ModelDefJson, has_the_names_of_the_file_and_leaves_data_out) {
  const std::string text = model_text(
      {graph_message("g", {const_op("w", {2}, {1, 2}),
                           {"Relu", "r", {"w:0"}, {ints_attr("axes", {1, 2})}, {}, {}}})},
      {text_attr("soc_version", "Ascend310P3")});
  const auto root = model_def_json(bytes_of_text(text));
  ASSERT_TRUE(root.ok()) << root.status().to_string();
  const std::string shown = root->dump();
  EXPECT_THAT(shown, HasSubstr(R"("type":"Relu","input":["w:0"])"));
  EXPECT_THAT(shown,
              HasSubstr(R"("key":"axes","value":{"list":{"i":[1,2],"val_type":"VT_LIST_INT"}})"));
  EXPECT_THAT(shown, HasSubstr(R"("data_bytes":8)"));
  EXPECT_THAT(shown, HasSubstr(R"("dtype":"DT_FLOAT")"));
  EXPECT_THAT(shown, HasSubstr(R"({"key":"soc_version","value":{"s":"Ascend310P3"}})"));
}

TEST(ModelDefJson, bytes_that_are_no_text_are_digits) {
  const auto root =
      model_def_json(bytes_of_text(model_text({}, {text_attr("key", std::string("\x01\x02", 2))})));
  ASSERT_TRUE(root.ok());
  EXPECT_THAT(root->dump(), HasSubstr(R"("s":"0102")"));
}

TEST(ModelDefJson, damage_is_a_sentence) {
  EXPECT_FALSE(model_def_json(bytes_of_text(std::string("\x3a\x7f", 2))).ok());
}

}  // namespace
}  // namespace anynpu::ge
