// SPDX-License-Identifier: Apache-2.0
#include "compile/open_model.h"

#include <gmock/gmock.h>

#include "import/ge/model_for_test.h"
#include "om/vendor_for_test.h"

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

std::string vendor_file(const std::string& type) {
  return om::vendor_text(
      {{0, ge::model_text({ge::graph_message("g", {ge::data_op("x", {2}),
                                                   {type, "op", {"x:0"}, {}, {}, {}},
                                                   ge::output_op({"op:0"})})},
                          {ge::text_attr("soc_version", "Ascend910B2")})}});
}

TEST(OpenModelTest, a_file_of_the_vendor_is_rebuilt) {
  const auto model = open_copy(ge::bytes_of_text(vendor_file("Relu")));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->meta.inputs[0].name, "x");
  EXPECT_EQ(model->meta.soc_version, "Ascend910B2");
  const auto meta = open_meta(ge::bytes_of_text(vendor_file("Relu")));
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(*meta, model->meta);
}

TEST(OpenModelTest, one_that_cannot_be_rebuilt_says_what_it_is_and_what_to_type) {
  const auto model = open_copy(ge::bytes_of_text(vendor_file("ChipOnly")));
  EXPECT_EQ(model.status().code(), Code::version_mismatch);
  const std::string said = model.status().to_string();
  EXPECT_THAT(said, HasSubstr("for Ascend910B2"));
  EXPECT_THAT(said, HasSubstr("ChipOnly 'op'"));
  EXPECT_THAT(said, HasSubstr("atc --model=<source model>"));
}

TEST(OpenModelTest, damage_stays_damage) {
  const std::string text = vendor_file("Relu");
  EXPECT_EQ(open_copy(ge::bytes_of_text(text).first(300)).status().code(), Code::corrupt_model);
  EXPECT_EQ(open_copy(ge::bytes_of_text("ANYNPUOM")).status().code(), Code::corrupt_model);
}

}  // namespace
}  // namespace anynpu::compile
