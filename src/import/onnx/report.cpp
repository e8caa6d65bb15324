// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "base/mapped_file.h"
#include "import/onnx/node_proto.h"
#include "import/onnx/onnx.h"
#include "import/onnx/upgrade.h"
#include "import/op_report.h"
#include "ops/registry.h"

namespace anynpu::onnx {

namespace {

class Reporter {
 public:
  Result<std::vector<OpReport>> run(std::span<const std::byte> bytes) {
    ANYNPU_TRY(each(WireReader(bytes), [&](const WireField& field) -> Status {
      if (field.number == 7) graph_ = field, has_graph_ = true;
      if (field.number == 8) return read_opset(field);
      if (field.number == 25) return read_function(field);
      return {};
    }));
    if (!has_graph_)
      return fail(Code::parse_error, "the file has no graph; expected an ONNX model");
    ANYNPU_TRY(read_graph(graph_));
    return std::move(reports_);
  }

 private:
  template <typename Function>
  static Status each(WireReader reader, const Function& fn) {
    WireField field;
    while (reader.next(field)) ANYNPU_TRY(fn(field));
    return reader.status();
  }

  Status read_opset(const WireField& message) {
    OpsetImport opset;
    ANYNPU_TRY(each(WireReader(message), [&](const WireField& field) -> Status {
      if (field.number == 1) return field.to(opset.domain);
      if (field.number == 2) return field.to(opset.version);
      return {};
    }));
    opset.domain = plain_domain(std::move(opset.domain));
    opsets_.push_back(std::move(opset));
    return {};
  }

  Status read_function(const WireField& message) {
    std::string name, domain;
    ANYNPU_TRY(each(WireReader(message), [&](const WireField& field) -> Status {
      if (field.number == 1) return field.to(name);
      if (field.number == 7) return read_node_field(field);
      if (field.number == 10) return field.to(domain);
      return {};
    }));
    functions_.insert({plain_domain(std::move(domain)), name});
    return {};
  }

  Status read_graph(const WireField& message) {
    return each(WireReader(message), [&](const WireField& field) -> Status {
      return field.number == 1 ? read_node_field(field) : Status{};
    });
  }

  Status read_node_field(const WireField& field) {
    ANYNPU_ASSIGN(const NodeProto node, read_node(field));
    OpReport report{node.name, node.op, node.domain, 0, ""};
    for (const OpsetImport& opset : opsets_) {
      if (opset.domain == node.domain) report.opset = opset.version;
    }
    const int64_t described = upgraded_opset(node.op, node.domain, report.opset);
    const auto found = ops::Registry::instance().find(node.op, node.domain, described);
    const bool constant = node.op == "Constant" && node.domain.empty();
    if (!found.ok() && !constant && !functions_.contains({node.domain, node.op}))
      report.cause = found.status().message();
    reports_.push_back(std::move(report));
    for (const WireField& attribute : node.attributes) {
      ANYNPU_ASSIGN(const AttrHead head, read_attribute_head(attribute));
      if (head.graph) ANYNPU_TRY(read_graph(*head.graph));
    }
    return {};
  }

  WireField graph_;
  bool has_graph_ = false;
  std::vector<OpsetImport> opsets_;
  std::set<std::pair<std::string, std::string>> functions_;
  std::vector<OpReport> reports_;
};

}  // namespace

Result<std::vector<OpReport>> report_operators(const std::string& path) {
  ANYNPU_ASSIGN(const auto file, MappedFile::open(path), "while opening the ONNX model");
  ANYNPU_ASSIGN(auto reports, Reporter().run(file->bytes()), "while reading the ONNX model '{}'",
                path);
  return reports;
}

}  // namespace anynpu::onnx
