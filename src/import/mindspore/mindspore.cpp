// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/mindspore.h"

#include <filesystem>
#include <string_view>

#include "base/mapped_file.h"
#include "base/protowire.h"
#include "import/ge/ge.h"
#include "import/mindspore/mindir_graph.h"
#include "import/model_kind.h"

namespace anynpu::mindspore {

namespace {

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
  ANYNPU_TRY(check_kind(bytes, 1));
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
