// SPDX-License-Identifier: Apache-2.0
// Declares operators as a program does that builds graphs node by node, from the headers alone:
// prints what does not hold.
#include <cstdio>
#include <string>

#include "acl/acl.h"
#include "ge/ge_api.h"
#include "graph/gnode.h"
#include "graph/operator_factory.h"

namespace {

int failed = 0;
void holds(bool condition, const char* what) {
  if (condition) return;
  ++failed;
  std::printf("does not hold: %s\n", what);
}

// As op_proto headers do it.
class Scaled : public ge::Operator {
 public:
  explicit Scaled(const ge::AscendString& name) : Operator(name, "Scaled") {
    InputRegister("x", "T");
    OptionalInputRegister("bias", "T");
    DynamicInputRegister("more", 2, "T");
    OutputRegister("y", "T");
    AttrRegister("scale", 2.5f);
    AttrRegister("axes", std::vector<int64_t>{0, -1});
    AttrRegister("mode", ge::AscendString("sum"));
    AttrRegister("keep", true);
    RequiredAttrWithTypeRegister("count", "Int");
  }
};
const ge::OperatorCreatorRegister registered("Scaled",
                                             [](const ge::AscendString& name) -> ge::Operator {
                                               return Scaled(name);
                                             });
const ge::OperatorCreatorRegister with_string(std::string("ByString"),
                                              [](const std::string& name) -> ge::Operator {
                                                return ge::Operator(name, std::string("ByString"));
                                              });

void check_factory() {
  holds(ge::OperatorFactory::IsExistOp("Scaled"), "a registered type exists");
  holds(ge::OperatorFactory::IsExistOp(std::string("MatMulV2")), "a type of the table exists");
  holds(!ge::OperatorFactory::IsExistOp("NoSuchType"), "others do not");
  const ge::Operator op =
      ge::OperatorFactory::CreateOperator(std::string("a"), std::string("Scaled"));
  holds(op.GetName() == "a" && op.GetOpType() == "Scaled", "an operator has its name and type");
  float scale = 0;
  holds(op.GetAttr("scale", scale) == ge::GRAPH_SUCCESS && scale == 2.5f, "a default is there");
  std::vector<int64_t> axes;
  holds(op.GetAttr("axes", axes) == ge::GRAPH_SUCCESS && axes.size() == 2 && axes[1] == -1,
        "a list");
  std::string mode;
  holds(op.GetAttr(std::string("mode"), mode) == ge::GRAPH_SUCCESS && mode == "sum", "a text");
  int32_t count = 0;
  holds(op.GetAttr("count", count) != ge::GRAPH_SUCCESS, "a required attribute has no default");
  holds(op.GetAttr("scale", count) != ge::GRAPH_SUCCESS, "a number of another type is refused");
  holds(ge::OperatorFactory::CreateOperator("b", "ByString").GetName() == "b",
        "both kinds of creators");
  holds(ge::OperatorFactory::CreateOperator("c", "NoSuchType").GetOpType().empty(), "no type");
}

void check_operator() {
  Scaled first("first"), second("second");
  second.SetAttr("count", int32_t{3})
      .SetAttr(std::string("names"), std::vector<std::string>{"a", "b"});
  int64_t count = 0;
  holds(second.GetAttr("count", count) == ge::GRAPH_SUCCESS && count == 3,
        "numbers are 64 bits wide");
  std::vector<std::string> names;
  holds(second.GetAttr(std::string("names"), names) == ge::GRAPH_SUCCESS && names[1] == "b",
        "texts");
  const ge::TensorDesc desc(ge::Shape({2, 3}), ge::FORMAT_NCHW, ge::DT_FLOAT16);
  holds(first.UpdateOutputDesc("y", desc) == ge::GRAPH_SUCCESS, "an output by name");
  holds(first.UpdateInputDesc("more1", desc) == ge::GRAPH_SUCCESS, "an item of a dynamic input");
  holds(first.UpdateInputDesc("more2", desc) != ge::GRAPH_SUCCESS, "there is no third one");
  holds(first.GetOutputDesc(std::string("y")).GetShape().GetDim(1) == 3, "its shape");
  second.SetInput("x", first).SetInput("bias", first, "y").AddControlInput(first);
  ge::Operator nothing;
  nothing.SetInput("x", first).SetAttr("a", true);
  holds(nothing.GetName().empty(), "an empty operator takes nothing");
}

void check_tensor() {
  const float values[2] = {1, 2};
  ge::Tensor tensor(ge::TensorDesc(ge::Shape({2}), ge::FORMAT_ND, ge::DT_FLOAT),
                    reinterpret_cast<const uint8_t*>(values), sizeof values);
  const ge::Tensor same = tensor;
  holds(same.GetSize() == 8 && same.GetData() != reinterpret_cast<const uint8_t*>(values),
        "bytes are copied");
  bool freed = false;
  uint8_t bytes[4] = {};
  tensor.SetData(bytes, sizeof bytes, [&](uint8_t*) { freed = true; });
  holds(same.GetSize() == 4 && !freed, "a copy is the same tensor");
  tensor.SetData(reinterpret_cast<const uint8_t*>(values), 4);
  holds(freed, "what was referred to is given back");
  ge::TensorDesc one, two = one;
  two.SetShape(ge::Shape({5}));
  holds(one.GetShape().GetDimNum() == 0, "a copy of a description is its own");
}

std::string name_of(const ge::GNodePtr& node) {
  ge::AscendString name;
  return node && node->GetName(name) == ge::GRAPH_SUCCESS ? name.GetString() : "";
}

void check_graph() {
  Scaled first("first"), second("second");
  second.SetInput("x", first);
  ge::Graph graph(std::string("linked"));
  graph.SetInputs({first}).SetOutputs(std::vector<ge::Operator>{second});
  holds(graph.IsValid() && graph.GetName() == "linked", "a graph of linked operators");
  auto nodes = graph.GetDirectNode();
  holds(nodes.size() == 2, "its nodes are those that the output needs");
  holds(name_of(nodes[1].GetInDataNodesAndPortIndexs(0).first) == "first", "the node before");
  holds(name_of(nodes[0].GetOutDataNodesAndPortIndexs(0)[0].first) == "second", "the node behind");
  holds(nodes[1].GetInDataNodesAndPortIndexs(9).first == nullptr, "no such input");
  ge::GraphBuffer buffer;
  holds(graph.SaveToMem(buffer) == ge::GRAPH_SUCCESS && buffer.GetSize() > 10, "a list of nodes");
  holds(graph.RemoveEdge(nodes[0], 0, nodes[1], 0) == ge::GRAPH_SUCCESS, "an edge is removed");
  holds(graph.RemoveEdge(nodes[0], 0, nodes[1], 0) != ge::GRAPH_SUCCESS, "once");
  ge::Session session({});
  holds(session.AddGraph(1, graph, {}) != ge::GRAPH_SUCCESS, "sessions run no graphs");
  const std::string message = aclGetRecentErrMsg();
  holds(message.find("O0") != message.npos && message.find("linked") != message.npos,
        "what to do instead");
}

}  // namespace

int main() {
  holds(ge::GEInitialize(std::map<std::string, std::string>{{"ge.exec.deviceId", "0"}}) == 0,
        "starting");
  check_factory();
  check_operator();
  check_tensor();
  check_graph();
  std::printf("%d\n", failed);
  return failed != 0;
}
