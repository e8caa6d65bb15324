// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/file_kind.h"

#include <gtest/gtest.h>

#include "base/protowire.h"

namespace anynpu::tensorflow {
namespace {

std::string said_of(const std::string& bytes) {
  const Status status = check_bytes(std::as_bytes(std::span(bytes)), "m.pb");
  return status.ok() ? "ok" : status.to_string();
}

void expect_in(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(TfFileKind, FilesAreKnownByTheirNames) {
  expect_in(check_path("m/saved_model.pb").to_string(), "tf.saved_model.load(\"m\")");
  expect_in(check_path("a.h5").to_string(), "load_model(\"a.h5\")");
  expect_in(check_path("a.keras").to_string(), "load_model(\"a.keras\")");
  expect_in(check_path("a.tflite").to_string(), "tf2onnx.convert --tflite");
  expect_in(check_path("d/m.ckpt-5.meta").to_string(), "import_meta_graph(\"d/m.ckpt-5.meta\")");
  expect_in(check_path("m.ckpt-5.data-00000-of-00001").to_string(), "restore(s, \"m.ckpt-5\")");
  EXPECT_TRUE(check_path("frozen.pb").ok());
}

TEST(TfFileKind, FilesAreKnownByTheirBytes) {
  expect_in(said_of("\x89HDF\r\n\x1a\n...."), "HDF5");
  expect_in(said_of(std::string("PK\x03\x04", 4) + "rest of the archive"), "zip archive");
  expect_in(said_of(std::string("\x1c\0\0\0TFL3....", 12)), "TFLite");
  expect_in(said_of("node {\n  name: \"x\"\n  op: \"Placeholder\"\n}\n"), "text form (.pbtxt)");
}

TEST(TfFileKind, AModelOfAnotherFrameworkIsNamed) {
  WireWriter onnx, inner;
  onnx.integer(1, 8);
  onnx.text(2, "pytorch");
  onnx.message(7, inner);
  inner.integer(2, 17);
  onnx.message(8, inner);
  expect_in(said_of(onnx.data()), "--framework=5");
  WireWriter mindir;
  mindir.text(1, "1.1");
  mindir.text(2, "MindSpore");
  expect_in(said_of(mindir.data()), "--framework=1");
  WireWriter saved, meta;
  saved.integer(1, 1);
  meta.text(2, "graph");
  saved.message(2, meta);
  expect_in(said_of(saved.data()), "SavedModel");
}

TEST(TfFileKind, AGraphDefIsKnownByItsFirstNode) {
  const auto begins = [](const std::string& bytes) {
    return begins_as_graph_def(std::as_bytes(std::span(bytes)));
  };
  WireWriter graph, node, onnx;
  node.text(1, "x");
  node.text(2, "Placeholder");
  graph.message(1, node);
  EXPECT_TRUE(begins(graph.data()));
  EXPECT_FALSE(begins(graph.data().substr(0, graph.data().size() - 1))) << "cut short";
  onnx.integer(1, 8);
  EXPECT_FALSE(begins(onnx.data()));
  WireWriter mindir;
  mindir.text(1, "0.1.1");
  EXPECT_FALSE(begins(mindir.data()));
  EXPECT_FALSE(begins(""));
}

}  // namespace
}  // namespace anynpu::tensorflow
