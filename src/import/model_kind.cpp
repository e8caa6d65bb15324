// SPDX-License-Identifier: Apache-2.0
#include "import/model_kind.h"

#include <algorithm>

#include "base/protowire.h"
#include "base/text.h"
#include "import/mindspore/mindspore.h"
#include "import/tensorflow/file_kind.h"

namespace anynpu {

namespace {

using Bytes = std::span<const std::byte>;

std::string_view beginning(Bytes bytes, size_t most) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), most)};
}

// Letters, spaces and line ends alone at the start of the file.
bool is_text(std::string_view text) {
  const auto printable = [](char c) {
    return c == '\n' || c == '\r' || c == '\t' || (c >= 32 && c <= 126);
  };
  return text.size() >= 4 && std::all_of(text.begin(), text.end(), printable);
}

ModelKind kind_of_text(Bytes bytes) {
  constexpr size_t kEnough = 4096;
  for (std::string_view line : split(beginning(bytes, kEnough), '\n')) {
    const std::string_view words = trim(line);
    if (words.starts_with("node {") || words.starts_with("node{")) return ModelKind::graph_text;
    for (std::string_view word : {"layer", "layers", "input", "input_dim", "input_shape"}) {
      if (!words.starts_with(word)) continue;
      const std::string_view rest = trim(words.substr(word.size()));
      if (rest.starts_with('{') || rest.starts_with(':')) return ModelKind::prototxt;
    }
  }
  return ModelKind::text;
}

// The layers of a caffemodel stand in field 100, in old files in field 2; the name in front.
bool is_old_layer(const WireField& message) {
  WireReader reader(message);
  WireField field;
  bool blobs = false;
  while (reader.next(field)) blobs |= field.number == 6 && field.type == WireType::bytes;
  return reader.status().ok() && blobs;
}

ModelKind kind_of_message(Bytes bytes) {
  if (tensorflow::begins_as_graph_def(bytes)) return ModelKind::graph_def;
  if (mindspore::begins_as_mindspore(bytes)) return ModelKind::mindspore;
  WireReader reader(bytes);
  WireField field;
  bool first_is_number = false, second_is_message = false, layers = false, graph = false;
  for (size_t count = 0; reader.next(field); ++count) {
    const bool block = field.type == WireType::bytes;
    if (count == 0) first_is_number = field.number == 1 && field.type == WireType::varint;
    if (count == 1) second_is_message = field.number == 2 && block;
    layers |= block && (field.number == 100 || (field.number == 2 && is_old_layer(field)));
    graph |= block && field.number == 7;
  }
  if (!first_is_number) return layers && !graph ? ModelKind::caffemodel : ModelKind::unknown;
  return graph || !second_is_message || !reader.status().ok() ? ModelKind::onnx
                                                              : ModelKind::saved_model;
}

// The --framework that takes a kind; -1: none.
int framework_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::prototxt:
      return 0;
    case ModelKind::mindspore:
      return 1;
    case ModelKind::graph_def:
      return 3;
    case ModelKind::onnx:
      return 5;
    default:
      return -1;
  }
}

std::string_view taken_by(int framework) {
  switch (framework) {
    case 0:
      return "0 takes a prototxt of Caffe, and its caffemodel with --weight";
    case 1:
      return "expected what mindspore.export(net, inputs, file_name=..., "
             "file_format=\"MINDIR\") or \"AIR\" writes; a .ckpt holds weights alone";
    case 3:
      return "3 takes a frozen GraphDef of TensorFlow";
    default:
      return "5 takes an ONNX model";
  }
}

}  // namespace

ModelKind kind_of(Bytes bytes) {
  constexpr size_t kFirst = 64;
  const std::string_view start = beginning(bytes, kFirst);
  if (bytes.empty()) return ModelKind::empty;
  if (start.starts_with("\x89HDF")) return ModelKind::hdf5;
  if (start.starts_with("PK\x03\x04")) return ModelKind::zip;
  if (start.size() >= 8 && start.substr(4, 4) == "TFL3") return ModelKind::tflite;
  if (start.starts_with("IMOD") || start.starts_with("ANYNPU")) return ModelKind::offline;
  return is_text(start) ? kind_of_text(bytes) : kind_of_message(bytes);
}

std::string_view advice_for(ModelKind kind) {
  switch (kind) {
    case ModelKind::empty:
      return "is empty";
    case ModelKind::caffemodel:
      return "is a caffemodel, the weights of Caffe; use --framework=0 with the prototxt as "
             "--model "
             "and this file as --weight";
    case ModelKind::prototxt:
      return "is text, a prototxt of Caffe; use --framework=0";
    case ModelKind::mindspore:
      return "is a model of MindSpore; use --framework=1";
    case ModelKind::graph_def:
      return "is a GraphDef of TensorFlow; use --framework=3";
    case ModelKind::graph_text:
      return "is text, a GraphDef of TensorFlow in text form; --framework=3 prints the command "
             "that makes a binary one";
    case ModelKind::saved_model:
      return "is the saved_model.pb of a SavedModel; --framework=3 prints the command that "
             "freezes it";
    case ModelKind::onnx:
      return "begins as an ONNX model does; use --framework=5";
    case ModelKind::offline:
      return "is an offline model already; load it with acl.mdl.load_from_file";
    case ModelKind::hdf5:
      return "is HDF5, a file of Keras; --framework=3 prints the command that freezes it";
    case ModelKind::zip:
      return "is a zip archive, as PyTorch and Keras write them; export the model of PyTorch to "
             "ONNX and use --framework=5, --framework=3 prints the command that freezes one of "
             "Keras";
    case ModelKind::tflite:
      return "is a file of TFLite; --framework=3 prints the command that converts it";
    case ModelKind::text:
      return "is text, and the models that are not of Caffe are binary";
    case ModelKind::unknown:
      break;
  }
  return {};
}

Status check_kind(Bytes bytes, int framework) {
  const ModelKind kind = kind_of(bytes);
  // A prototxt is any text, an empty one too: its reader says what is missing in it.
  const bool may_be_prototxt = kind == ModelKind::text || kind == ModelKind::empty;
  const bool unsure = kind == ModelKind::unknown || (framework == 0 && may_be_prototxt);
  if (unsure || framework_of(kind) == framework) return {};
  const Code code = kind == ModelKind::empty ? Code::parse_error : Code::file_invalid;
  return fail(code, "the file {}; {}", advice_for(kind), taken_by(framework));
}

}  // namespace anynpu
