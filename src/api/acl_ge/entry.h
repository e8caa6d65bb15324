// SPDX-License-Identifier: Apache-2.0
// The frame (api/frame.h) of the entry points of the graph engine, whose failures become
// graphStatus; the message is kept for aclGetRecentErrMsg(). They work without aclInit.
#pragma once

#include <map>
#include <string>

#include "api/acl/errors.h"
#include "api/frame.h"
#include "ge/ge_ir_build.h"
#include "service/graph_build/graph_build.h"

namespace anynpu::ge_door {

struct Traits {
  using Number = ge::graphStatus;
  static constexpr FaultSource kFaults = FaultSource::acl;
  static constexpr bool initialised() { return true; }
  static Status start(const char*) { return {}; }
  static Number fault_number(std::string_view) { return ge::GRAPH_FAILED; }
  static Number number_of(const char*, const api::Failure<Number>& failure);
  static Number report(const char* function, const api::Failure<Number>& failure);
};

// The body returns Status.
template <typename Body>
ge::graphStatus enter(const char* function, Body&& body) noexcept {
  return api::Frame<Traits>::enter<api::When::before_init>(function, body);
}

service::GraphOptions to_options(const std::map<ge::AscendString, ge::AscendString>& map);

}  // namespace anynpu::ge_door

namespace ge {

class OperatorImpl;

// What a Graph refers to: what a parser made, or the operators that a program has linked.
class GraphImpl {
 public:
  using Nodes = std::vector<std::shared_ptr<OperatorImpl>>;
  std::string name;
  std::shared_ptr<const anynpu::graph::Graph> source;  // null: nothing was parsed
  Nodes inputs;
  std::vector<std::pair<std::shared_ptr<OperatorImpl>, std::string>> outputs;  // "": the first one

  static const std::shared_ptr<GraphImpl>& of(const Graph& graph) { return graph.impl_; }
  // Makes one for a graph that has none.
  static GraphImpl& make(Graph& graph);
  static void fill(GraphBuffer& buffer, const std::string& text);
  // Every operator that an output depends on, each behind those that it reads.
  Nodes nodes() const;
  // Nodes and links as text.
  std::string text() const;
};

}  // namespace ge
