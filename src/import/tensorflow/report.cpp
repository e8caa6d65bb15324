// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"
#include "import/op_report.h"
#include "import/tensorflow/file_kind.h"
#include "import/tensorflow/graph_def.h"
#include "import/tensorflow/operator_check.h"

namespace anynpu::tensorflow {

namespace {

// Control flow of TensorFlow 1 has no rows in the table: it is rebuilt before (flow_forms.h).
bool is_rebuilt(std::string_view op) {
  for (std::string_view name :
       {"Switch", "_SwitchN", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"}) {
    if (op == name) return true;
  }
  return false;
}

void add_reports(const std::vector<NodeDef>& nodes, const std::string& prefix,
                 std::vector<OpReport>& reports) {
  for (const NodeDef& node : nodes) {
    reports.push_back(OpReport{prefix + node.name, node.op, "", 0,
                               is_rebuilt(node.op) ? std::string() : refusal_of(node.op)});
  }
}

}  // namespace

Result<std::vector<OpReport>> report_nodes(const std::string& path) {
  ANYNPU_TRY(check_path(path));
  ANYNPU_ASSIGN(const auto file, MappedFile::open(path), "while opening the TensorFlow model");
  ANYNPU_TRY(check_bytes(file->bytes(), path), "while reading '{}'", path);
  ANYNPU_ASSIGN(const GraphDef graph, read_graph_def(file->bytes()),
                "while reading the TensorFlow model '{}'", path);
  std::vector<OpReport> reports;
  add_reports(graph.nodes, "", reports);
  for (const auto& [name, function] : graph.functions)
    add_reports(function->nodes, name + "/", reports);
  return reports;
}

}  // namespace anynpu::tensorflow
