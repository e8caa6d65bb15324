// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/file_kind.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/protowire.h"
#include "import/model_kind.h"

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

// Keras goes by the extension: a file that lacks it is copied to one that has it.
std::string freeze_copy(const std::string& path, const std::string& extension) {
  return "cp \"" + path + "\" \"" + path + extension + "\" && " + freeze_keras(path + extension);
}

std::string freeze_checkpoint(const std::string& prefix) {
  return "python3 -c 'import tensorflow.compat.v1 as tf; tf.disable_eager_execution(); "
         "s = tf.Session(); tf.train.import_meta_graph(\"" +
         prefix + ".meta\").restore(s, \"" + prefix +
         "\"); tf.io.write_graph(tf.graph_util.convert_variables_to_constants(s, "
         "s.graph_def, [\"OUTPUT_NODE\"]), \".\", \"frozen.pb\", as_text=False)'";
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
  std::string prefix = file.string();
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
  // The prefix by which TensorFlow itself calls a checkpoint; it is no file.
  if (!fs::exists(file, error) && fs::exists(path + ".index", error))
    return refused_checkpoint(path, path + ".index");
  if (fs::is_directory(file, error)) {
    if (fs::exists(file / "saved_model.pb", error) ||
        fs::exists(file / "saved_model.pbtxt", error)) {
      return fail(Code::file_invalid,
                  "--model is '{}', the folder of a SavedModel; --framework=3 takes a frozen "
                  "GraphDef (.pb). Make one with\n  {}",
                  path, freeze_saved_model(path));
    }
    if (fs::exists(file / "checkpoint", error))
      return refused_checkpoint(path, file / "checkpoint");
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
  if (name.ends_with(".weights.h5")) {
    return fail(Code::file_invalid,
                "--model is '{}', weights of Keras without a model; --framework=3 takes a frozen "
                "GraphDef (.pb). In the program that builds the model: "
                "model.load_weights(\"{}\"); model.save(\"model.keras\"). Then make one with\n  {}",
                path, path, freeze_keras("model.keras"));
  }
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

Status check_bytes(std::span<const std::byte> bytes, const std::string& path) {
  switch (kind_of(bytes)) {
    case ModelKind::hdf5:
      return refused("a file of Keras (HDF5)", freeze_copy(path, ".h5"));
    case ModelKind::zip:
      return refused("a zip archive, such as a file of Keras 3", freeze_copy(path, ".keras"));
    case ModelKind::tflite:
      return refused("a file of TFLite", to_onnx(path));
    case ModelKind::graph_text:
    case ModelKind::text:
      return refused("a text file, such as a GraphDef in text form (.pbtxt)",
                     "python3 -c 'import tensorflow as tf; from google.protobuf import "
                     "text_format; g = text_format.Parse(open(\"" +
                         path +
                         "\").read(), tf.compat.v1.GraphDef()); "
                         "tf.io.write_graph(g, \".\", \"frozen.pb\", as_text=False)'");
    case ModelKind::saved_model:
      return refused(
          "the saved_model.pb of a SavedModel, under another name; FOLDER is the one it "
          "came from",
          freeze_saved_model("FOLDER"));
    default:
      return check_kind(bytes, 3);
  }
}

}  // namespace anynpu::tensorflow
