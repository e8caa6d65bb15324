// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "base/mapped_file.h"
#include "import/model_kind.h"
#include "import/onnx/function_proto.h"
#include "import/onnx/onnx.h"
#include "import/onnx/upgrade.h"
#include "import/op_report.h"
#include "ops/registry.h"

namespace anynpu::onnx {

namespace {

class Reporter {
 public:
  Result<std::vector<OpReport>> run(std::span<const std::byte> bytes) {
    std::optional<WireField> graph;
    std::vector<OpsetImport> opsets;
    WireReader reader(bytes);
    WireField field;
    while (reader.next(field)) {
      if (field.number == 7) graph = field;
      if (field.number == 8) {
        ANYNPU_ASSIGN(OpsetImport opset, read_opset(field));
        opsets.push_back(std::move(opset));
      }
      if (field.number == 25) {
        ANYNPU_ASSIGN(Function function, read_function(field));
        functions_.add(std::move(function));
      }
    }
    ANYNPU_TRY(reader.status());
    if (!graph) {
      return fail(Code::parse_error,
                  "the file has no graph ({} bytes); expected an ONNX model, see --framework",
                  bytes.size());
    }
    for (const Function& function : functions_.all()) {
      for (const WireField& node : function.nodes)
        ANYNPU_TRY(read_node_field(node, function.opsets.empty() ? opsets : function.opsets));
    }
    ANYNPU_TRY(read_graph(*graph, opsets));
    return std::move(reports_);
  }

 private:
  Status read_graph(const WireField& message, const std::vector<OpsetImport>& opsets) {
    WireReader reader(message);
    WireField field;
    while (reader.next(field)) {
      if (field.number == 1) ANYNPU_TRY(read_node_field(field, opsets));
    }
    return reader.status();
  }

  Status read_node_field(const WireField& field, const std::vector<OpsetImport>& opsets) {
    ANYNPU_ASSIGN(const NodeProto node, read_node(field));
    OpReport report{node.name, node.op, node.domain, 0, ""};
    for (const OpsetImport& opset : opsets) {
      if (opset.domain == node.domain) report.opset = opset.version;
    }
    const int64_t described = upgraded_opset(node.op, node.domain, report.opset);
    const auto found = ops::Registry::instance().find(node.op, node.domain, described);
    const bool constant = node.op == "Constant" && node.domain.empty();
    if (!found.ok() && !constant && !functions_.called_by(node))
      report.cause = found.status().message();
    reports_.push_back(std::move(report));
    for (const WireField& attribute : node.attributes) {
      ANYNPU_ASSIGN(const AttrHead head, read_attribute_head(attribute));
      if (head.graph) ANYNPU_TRY(read_graph(*head.graph, opsets));
    }
    return {};
  }

  Functions functions_;
  std::vector<OpReport> reports_;
};

}  // namespace

Result<std::vector<OpReport>> report_operators(const std::string& path) {
  ANYNPU_ASSIGN(const auto file, MappedFile::open(path), "while opening the ONNX model");
  ANYNPU_TRY(check_kind(file->bytes(), 5), "while reading '{}'", path);
  ANYNPU_ASSIGN(auto reports, Reporter().run(file->bytes()), "while reading the ONNX model '{}'",
                path);
  return reports;
}

}  // namespace anynpu::onnx
