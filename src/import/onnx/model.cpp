// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>

#include "import/onnx/graph_builder.h"
#include "import/onnx/onnx.h"

namespace anynpu::onnx {

namespace {

Result<OpsetImport> read_opset(const WireField& message) {
  OpsetImport opset;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(opset.domain));
    if (field.number == 2) ANYNPU_TRY(field.to(opset.version));
  }
  ANYNPU_TRY(reader.status());
  opset.domain = plain_domain(std::move(opset.domain));
  return opset;
}

Result<Model> read_model(std::span<const std::byte> bytes, Source& source) {
  Model model;
  std::optional<WireField> graph_field;
  std::string producer_version;
  bool has_functions = false;
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(model.ir_version));
        break;
      case 2:
        ANYNPU_TRY(field.to(model.producer));
        break;
      case 3:
        ANYNPU_TRY(field.to(producer_version));
        break;
      case 7:
        graph_field = field;
        break;
      case 8: {
        ANYNPU_ASSIGN(OpsetImport opset, read_opset(field));
        model.opsets.push_back(std::move(opset));
        break;
      }
      case 25:
        has_functions = true;
        break;
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  if (!graph_field) {
    return fail(Code::parse_error,
                "the file has no graph ({} bytes); expected an ONNX model, see --framework",
                bytes.size());
  }
  if (has_functions) {
    return fail(
        Code::unsupported_feature,
        "the model defines functions of its own, which are not supported yet; export it with "
        "them inlined");
  }
  if (model.opsets.empty()) {
    return fail(Code::corrupt_model,
                "the model names no operator set version; expected an opset_import entry");
  }
  if (!producer_version.empty()) model.producer += " " + producer_version;
  ANYNPU_ASSIGN(model.graph, GraphBuilder(source, model.opsets).build(*graph_field));
  return model;
}

}  // namespace

Result<Model> import_memory(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                            const std::string& folder) {
  Source source{std::move(owner), folder, {}};
  return read_model(bytes, source);
}

Result<Model> import_file(const std::string& path) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while opening the ONNX model");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto bytes = file->bytes();
  ANYNPU_ASSIGN(Model model, import_memory(bytes, file, folder.empty() ? "." : folder),
                "while reading the ONNX model '{}'", path);
  return model;
}

}  // namespace anynpu::onnx
