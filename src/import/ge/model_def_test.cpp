// SPDX-License-Identifier: Apache-2.0
#include "import/ge/model_def.h"

#include "import/ge/model_for_test.h"

namespace anynpu::ge {
namespace {

TEST(ModelDefTest, operators_attributes_and_descriptions_are_read) {
  const std::string text = model_text(
      {graph_message("g", {{"Conv2D",
                            "conv",
                            {"x:0", "", "c:-1"},
                            {ints_attr("strides", {1, 1, 2, 2}), text_attr("data_format", "NCHW")},
                            {tensor_desc({1, 1, 4, 4, 16}, "NC1HWC0", {1, 3, 4, 4}, "NCHW")},
                            {}}})},
      {text_attr("soc_version", "Ascend310P3")});
  const auto model = read_model_def(bytes_of_text(text));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->string_attr("soc_version"), "Ascend310P3");
  const OpDef& op = model->graphs[0].ops[0];
  EXPECT_EQ(op.inputs, (std::vector<std::string>{"x:0", "", "c:-1"}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(op.attrs.at("strides")), (Shape{1, 1, 2, 2}));
  EXPECT_EQ(op.input_descs[0].format, Format::nc1hwc0);
  EXPECT_EQ(op.input_descs[0].origin_shape, (Shape{1, 3, 4, 4}));
  EXPECT_EQ(op.input_descs[0].origin_format, Format::nchw);
  EXPECT_TRUE(op.input_descs[0].is_blocked());
  EXPECT_EQ(op.input_descs[0].dtype, DType::f32);
}

TEST(ModelDefTest, every_cut_fails_or_reads_less) {
  const std::string text =
      model_text({graph_message("g", {data_op("x", {2}), output_op({"x:0"})})});
  for (size_t size = 0; size < text.size(); ++size)
    (void)read_model_def(bytes_of_text(text).first(size)).ok();
  EXPECT_FALSE(read_model_def({}).ok());
}

TEST(ModelDefTest, other_protobufs_do_not_look_like_one) {
  EXPECT_TRUE(
      looks_like_model_def(bytes_of_text(model_text({graph_message("g", {data_op("x", {2})})}))));
  WireWriter graph, file;
  graph.text(2, "a name, as .mindir and ONNX have it");
  graph.text(6, "");
  file.message(7, graph);
  EXPECT_FALSE(looks_like_model_def(bytes_of_text(file.data())));
}

TEST(ModelDefTest, numbers_and_names_of_types_and_formats) {
  EXPECT_EQ(dtype_of_number(7), DType::i32);
  EXPECT_EQ(dtype_name(2), "DT_FLOAT16");
  EXPECT_EQ(dtype_of_number(99), DType::undefined);
  EXPECT_EQ(format_named("FRACTAL_Z"), Format::fractal_z);
  EXPECT_EQ(format_named("NO_SUCH"), Format::undefined);
}

}  // namespace
}  // namespace anynpu::ge
