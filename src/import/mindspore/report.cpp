// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"
#include "import/ge/ge.h"
#include "import/mindspore/mindir.h"
#include "import/mindspore/primitives.h"
#include "import/model_kind.h"
#include "import/op_report.h"
#include "import/singleop/table.h"

namespace anynpu::mindspore {

namespace {

// What the readers handle themselves.
constexpr std::string_view kOfMindir[] = {
    "Depend", "Load",         "MakeTuple",   "MakeList",   "Partial",      "StopGradient",
    "Switch", "TupleGetItem", "UpdateState", "make_tuple", "stop_gradient"};
constexpr std::string_view kOfAir[] = {
    "Data",    "Const",    "Constant",  "NetOutput",   "TransData",    "AnnData",        "AippData",
    "RefData", "ReFormat", "Cacheable", "MemcpyAsync", "StopGradient", "PartitionedCall"};

template <typename Names>
bool lists(const Names& names, std::string_view name) {
  for (const std::string_view known : names) {
    if (known == name) return true;
  }
  return false;
}

void add_nodes(const Model& model, const GraphProto& graph, std::vector<OpReport>& out) {
  for (const Node& node : graph.nodes) {
    constexpr std::string_view kReference = "REF::";
    if (!node.op_type.starts_with(kReference)) continue;  // a constant
    const auto found = model.primitives.find(node.op_type.substr(kReference.size()));
    if (found == model.primitives.end()) continue;  // a call of a function
    OpReport report;
    report.name = node.scope.empty() ? node.name : node.scope;
    report.type = found->second.op_type;
    if (!find_primitive(report.type) && !lists(kOfMindir, report.type))
      report.cause = "the primitive is not supported";
    out.push_back(std::move(report));
  }
}

void add_ops(const ge::GraphDef& graph, std::vector<OpReport>& out) {
  for (const ge::OpDef& op : graph.ops) {
    OpReport report;
    report.name = op.name;
    report.type = op.type;
    if (!singleop::find_vendor_op(op.type) && !lists(kOfAir, op.type))
      report.cause = "the operator is not supported";
    out.push_back(std::move(report));
  }
}

}  // namespace

Result<std::vector<OpReport>> report_operators(const std::string& path) {
  ANYNPU_ASSIGN(const auto file, MappedFile::open(path), "while opening the MindSpore model");
  ANYNPU_TRY(check_kind(file->bytes(), 1), "while reading '{}'", path);
  std::vector<OpReport> out;
  if (ge::looks_like_model_def(file->bytes())) {
    ANYNPU_ASSIGN(const ge::ModelDef model, ge::read_model_def(file->bytes()),
                  "while reading the MindSpore model '{}'", path);
    for (const ge::GraphDef& graph : model.graphs) add_ops(graph, out);
    return out;
  }
  ANYNPU_ASSIGN(const Model model, read_mindir(file->bytes()),
                "while reading the MindSpore model '{}'", path);
  add_nodes(model, model.graph, out);
  for (const auto& [name, graph] : model.functions) add_nodes(model, graph, out);
  return out;
}

}  // namespace anynpu::mindspore
