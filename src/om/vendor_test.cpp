// SPDX-License-Identifier: Apache-2.0
#include "om/vendor.h"

#include <gmock/gmock.h>

#include <cstring>

#include "import/ge/model_for_test.h"
#include "om/vendor_for_test.h"

namespace anynpu::om {
namespace {

using testing::HasSubstr;

std::string description() {
  return ge::model_text(
      {ge::graph_message("g", {ge::data_op("x", {2}),
                               {"Relu", "relu", {"x:0"}, {}, {}, {}},
                               ge::output_op({"relu:0"})})},
      {ge::text_attr("soc_version", "Ascend910B2"), ge::text_attr("atc_version", "8.0.RC1"),
       ge::text_attr("atc_cmdline", "/usr/bin/atc --model=a.onnx --framework=5 --output=a")});
}

TEST(VendorFileTest, header_and_parts_are_read) {
  const std::string text = vendor_text({{0, description()}, {1, "weights"}, {3, "code"}});
  const auto file = read_vendor_file(ge::bytes_of_text(text));
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ(file->header.name, "net");
  EXPECT_EQ(file->header.platform, "1.2");
  ASSERT_EQ(file->models[0].size(), 3u);
  EXPECT_EQ(file->part(1).size(), 7u);
  EXPECT_TRUE(file->part(9).empty());
  const auto model = read_vendor_description(*file);
  ASSERT_TRUE(model.ok());
  const std::string said = describe_vendor_file(*file, &*model);
  EXPECT_THAT(said, HasSubstr("'net', for Ascend910B2, made by release 8.0.RC1, platform 1.2"));
  EXPECT_EQ(vendor_command(*file, &*model), "atc --model=a.onnx --framework=5 --output=a");
  EXPECT_THAT(vendor_command(*file, nullptr), HasSubstr("--output=net"));
}

TEST(VendorFileTest, the_graph_is_rebuilt_from_the_description) {
  const std::string text = vendor_text({{0, description()}});
  const auto file = read_vendor_file(ge::bytes_of_text(text));
  ASSERT_TRUE(file.ok());
  const auto graph = rebuild_vendor_graph(*file, nullptr);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->nodes[0].op, "Relu");
}

TEST(VendorFileTest, every_cut_is_a_message) {
  const std::string text = vendor_text({{0, description()}, {1, "weights"}});
  for (size_t size = 0; size < text.size(); ++size) {
    const auto file = read_vendor_file(ge::bytes_of_text(text).first(size));
    EXPECT_EQ(file.status().code(), Code::corrupt_model) << size;
  }
}

TEST(VendorFileTest, hostile_numbers_are_refused) {
  std::string text = vendor_text({{0, description()}});
  const auto with = [&](size_t offset, uint32_t value) {
    std::string changed = text;
    std::memcpy(changed.data() + offset, &value, sizeof value);
    return read_vendor_file(ge::bytes_of_text(changed)).status().to_string();
  };
  EXPECT_THAT(with(256, 0xffffffff), HasSubstr("names 4294967295 parts"));
  EXPECT_THAT(with(156, 0xffffffff), HasSubstr("holds 4294967295 models"));
  EXPECT_THAT(with(264 + 12, 0xffffffff), HasSubstr("part 0 (model description)"));
  EXPECT_THAT(with(80, 1), HasSubstr("is encrypted"));
}

}  // namespace
}  // namespace anynpu::om
