// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/mindspore.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/mapped_file.h"
#include "base/protowire.h"
#include "import/ge/ge.h"
#include "import/mindspore/mindir_graph.h"
#include "import/tensorflow/file_kind.h"

namespace anynpu::mindspore {

namespace {

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), magic.size()) == magic;
}

// A protobuf's first field: ONNX begins with a number, .mindir and .air with a text.
bool begins_with_number(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  WireField field;
  return reader.next(field) && field.number == 1 && field.type == WireType::varint;
}

bool is_text(std::span<const std::byte> bytes) {
  constexpr size_t kEnough = 256;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kEnough))) {
    const auto c = static_cast<unsigned char>(byte);
    if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c > 0x7e) return false;
  }
  return true;
}

// What a file is that is not a MindSpore model, by its first bytes, and what to do.
std::string_view other_kind(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "is empty";
  if (starts_with(bytes, "\x89HDF"))
    return "is HDF5, a file of Keras; freeze it to a .pb and use --framework=3";
  if (starts_with(bytes, "PK\x03\x04"))
    return "is a zip archive, as PyTorch and Keras write them; export the model to ONNX and use "
           "--framework=5";
  if (starts_with(bytes, "IMOD") || starts_with(bytes, "ANYNPU"))
    return "is an offline model already; load it with acl.mdl.load_from_file";
  if (is_text(bytes))
    return "is text; a Caffe prototxt needs --framework=0, and MindSpore's models are binary";
  if (tensorflow::begins_as_graph_def(bytes))
    return "is a GraphDef of TensorFlow; use --framework=3";
  if (begins_with_number(bytes)) return "begins as an ONNX model does; use --framework=5";
  return {};
}

constexpr std::string_view kExpected =
    "expected what mindspore.export(net, inputs, file_name=..., file_format=\"MINDIR\") or \"AIR\" "
    "writes; a .ckpt holds weights alone";

}  // namespace

bool begins_as_mindspore(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  WireField field;
  std::string version;
  if (!reader.next(field) || field.number != 1 || field.type != WireType::bytes) return false;
  if (!field.to(version).ok() || version.empty()) return false;
  const bool numbers = version.find_first_not_of("0123456789.") == version.npos;
  return numbers || ge::looks_like_model_def(bytes);
}

Result<graph::Graph> import_memory(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner, const InputShapes& shapes,
                                   const std::string& folder) {
  if (const std::string_view kind = other_kind(bytes); !kind.empty()) {
    return fail(Code::file_invalid, "the file {}; {}", kind, kExpected);
  }
  if (ge::looks_like_model_def(bytes)) return ge::import_air(bytes, std::move(owner), shapes);
  ANYNPU_ASSIGN(const Model model, read_mindir(bytes), "{}", kExpected);
  return build_graph(model, std::move(owner), shapes, folder);
}

Result<graph::Graph> import_file(const std::string& path, const InputShapes& shapes) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while opening the MindSpore model");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  ANYNPU_ASSIGN(graph::Graph graph,
                import_memory(file->bytes(), file, shapes, folder.empty() ? "." : folder),
                "while reading the MindSpore model '{}'", path);
  return graph;
}

}  // namespace anynpu::mindspore
