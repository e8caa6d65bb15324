// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/file_kind.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/protowire.h"
#include "import/mindspore/mindspore.h"

namespace anynpu::tensorflow {

namespace {

namespace fs = std::filesystem;

// The program that freezes a Keras model or a SavedModel, with what loads it in its place.
std::string freeze_program(const std::string& load) {
  return "python3 -c 'import tensorflow as tf; "
         "from tensorflow.python.framework.convert_to_constants import "
         "convert_variables_to_constants_v2 as freeze; " +
         load +
         "tf.io.write_graph(freeze(f).graph.as_graph_def(), \".\", \"frozen.pb\", as_text=False)'";
}

// The model stays in a variable: its own variables live as long as it does.
std::string freeze_saved_model(const std::string& folder) {
  return freeze_program("m = tf.saved_model.load(\"" + folder +
                        "\"); f = m.signatures[\"serving_default\"]; ");
}

std::string freeze_keras(const std::string& path) {
  return freeze_program("m = tf.keras.models.load_model(\"" + path +
                        "\"); f = tf.function(m).get_concrete_function("
                        "[tf.TensorSpec(i.shape, i.dtype) for i in m.inputs] if len(m.inputs) > 1 "
                        "else tf.TensorSpec(m.inputs[0].shape, m.inputs[0].dtype)); ");
}

std::string freeze_checkpoint(const std::string& prefix) {
  return "python3 -c 'import tensorflow.compat.v1 as tf; tf.disable_eager_execution(); "
         "s = tf.Session(); tf.train.import_meta_graph(\"" +
         prefix + ".meta\").restore(s, \"" + prefix +
         "\"); tf.io.write_graph(tf.graph_util.convert_variables_to_constants(s, "
         "s.graph_def, [\"OUTPUT_NODE\"]), \".\", \"frozen.pb\", as_text=False)'";
}

bool starts_with(std::span<const std::byte> bytes, std::string_view text, size_t at = 0) {
  if (bytes.size() < at + text.size()) return false;
  return std::equal(text.begin(), text.end(), bytes.begin() + static_cast<ptrdiff_t>(at),
                    [](char a, std::byte b) { return static_cast<std::byte>(a) == b; });
}

// Letters, spaces and line ends alone at the start of the file.
bool is_text(std::span<const std::byte> bytes) {
  const size_t count = std::min<size_t>(bytes.size(), 64);
  if (count < 4) return false;
  for (size_t i = 0; i < count; ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (c != '\n' && c != '\r' && c != '\t' && (c < 32 || c > 126)) return false;
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), count);
  return text.find('{') != text.npos || text.find(':') != text.npos;
}

// Numbers of the fields of the outermost message, at most a few; empty when it is none.
struct TopFields {
  bool is_message = false;
  bool has_graph_field = false;  // 7 with 8: ONNX
  bool has_opset = false;
  bool first_is_version = false;  // SavedModel: saved_model_schema_version, then meta_graphs
  bool second_is_meta = false;
};
TopFields top_fields(std::span<const std::byte> bytes) {
  TopFields seen;
  WireReader reader(bytes);
  WireField field;
  size_t count = 0;
  while (reader.next(field)) {
    if (count == 0) seen.first_is_version = field.number == 1 && field.type == WireType::varint;
    if (count == 1) seen.second_is_meta = field.number == 2 && field.type == WireType::bytes;
    seen.has_graph_field |= field.number == 7 && field.type == WireType::bytes;
    seen.has_opset |= field.number == 8 && field.type == WireType::bytes;
    ++count;
  }
  seen.is_message = reader.status().ok() && count > 0;
  return seen;
}

Status refused(std::string_view what, const std::string& command) {
  return fail(Code::file_invalid,
              "this is {}, and --framework=3 takes a frozen GraphDef (.pb). Make one with\n  {}",
              what, command);
}

std::string to_onnx(const std::string& path) {
  return "python3 -m tf2onnx.convert --tflite " + path +
         " --output model.onnx\nand convert that with --framework=5, or freeze the model that the "
         ".tflite was made from";
}

// What the file `checkpoint` in a folder of checkpoints names as the latest.
std::string latest_checkpoint(const fs::path& file) {
  std::ifstream text(file);
  std::string line;
  constexpr std::string_view kKey = "model_checkpoint_path: \"";
  while (std::getline(text, line) && line.size() < 4096) {
    if (!line.starts_with(kKey) || line.back() != '"' || line.size() <= kKey.size()) continue;
    const fs::path named(line.substr(kKey.size(), line.size() - kKey.size() - 1));
    return named.is_absolute() ? named.string() : (file.parent_path() / named).string();
  }
  return file.string();
}

// A part of a checkpoint, by its name.
Status refused_checkpoint(const std::string& path, const fs::path& file) {
  const std::string name = file.filename().string(), extension = file.extension().string();
  std::string prefix = path;
  if (extension == ".meta" || extension == ".index")
    prefix.resize(prefix.size() - extension.size());
  if (name.find(".data-") != std::string::npos) prefix.resize(prefix.rfind(".data-"));
  if (name == "checkpoint") prefix = latest_checkpoint(file);
  std::error_code error;
  if (fs::exists(file, error) && !fs::exists(prefix + ".meta", error)) {
    return fail(
        Code::file_invalid,
        "--model is '{}', a part of a checkpoint of TensorFlow 2, which holds weights and no "
        "graph; --framework=3 takes a frozen GraphDef (.pb). In the program that builds the "
        "model: tf.train.Checkpoint(model).restore(\"{}\").expect_partial(); "
        "model.save(\"model.keras\"). Then make one with\n  {}",
        path, prefix, freeze_keras("model.keras"));
  }
  return fail(Code::file_invalid,
              "--model is '{}', a part of a checkpoint; --framework=3 takes a frozen GraphDef "
              "(.pb). Make one, with the name of the output node, with\n  {}",
              path, freeze_checkpoint(prefix));
}

}  // namespace

Status check_path(const std::string& path) {
  std::error_code error;
  const fs::path file(path);
  if (fs::is_directory(file, error)) {
    if (fs::exists(file / "saved_model.pb", error) ||
        fs::exists(file / "saved_model.pbtxt", error)) {
      return fail(Code::file_invalid,
                  "--model is '{}', the folder of a SavedModel; --framework=3 takes a frozen "
                  "GraphDef (.pb). Make one with\n  {}",
                  path, freeze_saved_model(path));
    }
    return {};
  }
  const std::string name = file.filename().string();
  if (name == "saved_model.pb" || name == "saved_model.pbtxt" || name == "keras_metadata.pb") {
    const std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
    return fail(Code::file_invalid,
                "--model is '{}', a part of a SavedModel, whose weights lie beside it; "
                "--framework=3 takes a frozen GraphDef (.pb). Make one with\n  {}",
                path, freeze_saved_model(folder));
  }
  const std::string extension = file.extension().string();
  if (extension == ".h5" || extension == ".hdf5" || extension == ".keras") {
    return fail(Code::file_invalid,
                "--model is '{}', a file of Keras; --framework=3 takes a frozen GraphDef (.pb). "
                "Make one with\n  {}",
                path, freeze_keras(path));
  }
  if (extension == ".tflite") {
    return fail(Code::file_invalid,
                "--model is '{}', a file of TFLite; --framework=3 takes a frozen GraphDef (.pb). "
                "Use\n  {}",
                path, to_onnx(path));
  }
  const bool data = name.find(".data-") != std::string::npos;
  if (extension == ".ckpt" || extension == ".meta" || extension == ".index" || data ||
      name == "checkpoint")
    return refused_checkpoint(path, file);
  return {};
}

bool begins_as_graph_def(std::span<const std::byte> bytes) {
  WireReader file(bytes);
  WireField node, part;
  if (!file.next(node) || node.number != 1 || node.type != WireType::bytes) return false;
  WireReader reader(node);
  std::string name, op;
  if (!reader.next(part) || part.number != 1 || !part.to(name).ok()) return false;
  if (!reader.next(part) || part.number != 2 || !part.to(op).ok() || op.empty()) return false;
  const auto of_a_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::all_of(op.begin(), op.end(), of_a_name);
}

Status check_bytes(std::span<const std::byte> bytes) {
  if (starts_with(bytes, "\x89HDF\r\n"))
    return refused("a file of Keras (HDF5)", freeze_keras("model.h5"));
  if (starts_with(bytes, "PK\x03\x04"))
    return refused("a zip archive, such as a file of Keras 3", freeze_keras("model.keras"));
  if (starts_with(bytes, "TFL3", 4)) return refused("a file of TFLite", to_onnx("model.tflite"));
  if (is_text(bytes)) {
    return refused("a text file, such as a GraphDef in text form (.pbtxt)",
                   "python3 -c 'import tensorflow as tf; from google.protobuf import text_format; "
                   "g = text_format.Parse(open(\"model.pbtxt\").read(), tf.compat.v1.GraphDef()); "
                   "tf.io.write_graph(g, \".\", \"frozen.pb\", as_text=False)'");
  }
  if (mindspore::begins_as_mindspore(bytes)) {
    return fail(Code::file_invalid,
                "this is a model of MindSpore; use --framework=1, 3 takes a frozen GraphDef of "
                "TensorFlow");
  }
  const TopFields seen = top_fields(bytes);
  if (seen.is_message && seen.has_graph_field && seen.has_opset) {
    return fail(
        Code::file_invalid,
        "this is an ONNX model; use --framework=5, 3 takes a frozen GraphDef of TensorFlow");
  }
  if (seen.is_message && seen.first_is_version && seen.second_is_meta)
    return refused("the saved_model.pb of a SavedModel", freeze_saved_model("FOLDER"));
  return {};
}

}  // namespace anynpu::tensorflow
