// SPDX-License-Identifier: Apache-2.0
#include "import/model_kind.h"

#include <gtest/gtest.h>

#include "base/protowire.h"

namespace anynpu {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
ModelKind kind(const std::string& text) { return kind_of(bytes_of(text)); }

std::string message(std::string_view name, int number, std::string_view inner) {
  WireWriter writer;
  writer.text(1, name);
  writer.text(static_cast<uint32_t>(number), inner);
  return writer.data();
}

TEST(ModelKind, IsKnownByTheFirstBytes) {
  EXPECT_EQ(kind(""), ModelKind::empty);
  EXPECT_EQ(kind("\x89HDF\r\n\x1a\n"), ModelKind::hdf5);
  EXPECT_EQ(kind(std::string("PK\x03\x04", 4)), ModelKind::zip);
  EXPECT_EQ(kind(std::string("\x1c\0\0\0TFL3....", 12)), ModelKind::tflite);
  EXPECT_EQ(kind("IMOD...."), ModelKind::offline);
  EXPECT_EQ(kind("ANYNPUOM"), ModelKind::offline);
  EXPECT_EQ(kind(std::string(500, '\0')), ModelKind::unknown);
}

TEST(ModelKind, OfTextsIsToldByTheirWords) {
  EXPECT_EQ(kind("name: \"net\"\nlayer {\n"), ModelKind::prototxt);
  EXPECT_EQ(kind("# a comment\n\ninput: \"data\"\n"), ModelKind::prototxt);
  EXPECT_EQ(kind("node {\n  name: \"x\"\n}\n"), ModelKind::graph_text);
  EXPECT_EQ(kind("just some words\n"), ModelKind::text);
}

TEST(ModelKind, OfMessagesIsToldByTheirFields) {
  WireWriter graph_def, node;
  node.text(1, "x");
  node.text(2, "Placeholder");
  graph_def.message(1, node);
  EXPECT_EQ(kind(graph_def.data()), ModelKind::graph_def);
  EXPECT_EQ(kind(message("net", 100, "")), ModelKind::caffemodel);
  WireWriter blobs;
  blobs.text(6, "");
  EXPECT_EQ(kind(message("net", 2, blobs.data())), ModelKind::caffemodel) << "of an old Caffe";
  EXPECT_EQ(kind(message("1.1", 2, "MindSpore")), ModelKind::mindspore);
  WireWriter onnx, saved, inner;
  onnx.integer(1, 8);
  onnx.text(2, "pytorch");
  onnx.message(7, inner);
  EXPECT_EQ(kind(onnx.data()), ModelKind::onnx);
  saved.integer(1, 1);
  saved.message(2, inner);
  EXPECT_EQ(kind(saved.data()), ModelKind::saved_model);
}

TEST(ModelKind, OfAnotherFrameworkIsRefusedWithTheOptionToType) {
  const std::string prototxt = "layer {\n  name: \"a\"\n}\n";
  EXPECT_TRUE(check_kind(bytes_of(prototxt), 0).ok());
  for (int framework : {1, 3, 5}) {
    const std::string said = check_kind(bytes_of(prototxt), framework).to_string();
    EXPECT_NE(said.find("use --framework=0"), std::string::npos) << said;
  }
  const std::string unknown(500, '\0'), words = "just some words\n";
  EXPECT_TRUE(check_kind(bytes_of(unknown), 5).ok()) << "the reader says what is wrong with it";
  EXPECT_TRUE(check_kind(bytes_of(words), 0).ok()) << "so does the reader of prototxts";
  EXPECT_FALSE(check_kind(bytes_of(words), 1).ok());
}

}  // namespace
}  // namespace anynpu
