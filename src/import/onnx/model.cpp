// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>

#include "import/model_kind.h"
#include "import/onnx/graph_builder.h"
#include "import/onnx/onnx.h"

namespace anynpu::onnx {

namespace {

constexpr int64_t kNewestOpset = 28;

Result<Model> read_model(std::span<const std::byte> bytes, Source& source) {
  Model model;
  std::optional<WireField> graph_field;
  std::string producer_version;
  ModelScope scope{source, {}, {}, {}, 0};
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
      case 25: {
        ANYNPU_ASSIGN(Function function, read_function(field));
        scope.functions.add(std::move(function));
        break;
      }
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
  if (model.opsets.empty()) {
    return fail(
        Code::corrupt_model,
        "the model names no operator set version; expected an opset_import entry, export the "
        "model again");
  }
  for (const OpsetImport& opset : model.opsets) {
    if (!opset.domain.empty() || opset.version <= kNewestOpset) continue;
    return fail(Code::version_mismatch,
                "the model is written for opset {} of ai.onnx, the newest that is known is {}; "
                "export it with opset {} or older",
                opset.version, kNewestOpset, kNewestOpset);
  }
  if (!producer_version.empty()) model.producer += " " + producer_version;
  scope.opsets = model.opsets;
  ANYNPU_ASSIGN(model.graph, GraphBuilder(scope).build(*graph_field));
  return model;
}

}  // namespace

Result<Model> import_memory(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                            const std::string& folder) {
  ANYNPU_TRY(check_kind(bytes, 5));
  Source source{std::move(owner), folder, {}};
  return read_model(bytes, source);
}

Result<Model> import_file(const std::string& path) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while opening the ONNX model");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto bytes = file->bytes();
  ANYNPU_ASSIGN(
      Model model, import_memory(bytes, file, folder.empty() ? "." : folder),
      "while reading the ONNX model '{}'; files of other frameworks need another --framework",
      path);
  return model;
}

}  // namespace anynpu::onnx
