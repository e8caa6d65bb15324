// SPDX-License-Identifier: Apache-2.0
#include "api/acl_ge/entry.h"
#include "api/arguments.h"
#include "parser/onnx_parser.h"

namespace ge {

using anynpu::Status;
using anynpu::api::check_pointer;
using anynpu::ge_door::enter;

namespace {

using Params = std::map<AscendString, AscendString>;

// What a parser made becomes what the graph refers to.
Status fill(Graph& graph, anynpu::Result<anynpu::graph::Graph> parsed) {
  ANYNPU_TRY(parsed.status());
  GraphImpl::make(graph).source =
      std::make_shared<const anynpu::graph::Graph>(std::move(parsed).value());
  return {};
}

}  // namespace

GraphImpl& GraphImpl::make(Graph& graph) {
  if (!graph.impl_) graph.impl_ = std::make_shared<GraphImpl>();
  return *graph.impl_;
}

Graph::Graph(const char* name) : impl_(std::make_shared<GraphImpl>()) {
  if (name) impl_->name = name;
}

bool Graph::IsValid() const { return impl_ && (impl_->source || !impl_->outputs.empty()); }

graphStatus Graph::GetName(AscendString& name) const {
  name = AscendString(impl_ ? impl_->name.c_str() : "");
  return GRAPH_SUCCESS;
}

graphStatus aclgrphParseONNX(const char* model_file, const Params& /*parser_params*/,
                             Graph& graph) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(model_file, "model_file"));
    return fill(graph, anynpu::service::parse_onnx_file(model_file));
  });
}

graphStatus aclgrphParseONNXFromMem(const char* buffer, size_t size,
                                    const Params& /*parser_params*/, Graph& graph) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(buffer, "buffer"));
    return fill(graph, anynpu::service::parse_onnx(std::as_bytes(std::span(buffer, size))));
  });
}

}  // namespace ge
