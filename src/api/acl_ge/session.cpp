// SPDX-License-Identifier: Apache-2.0
// Sessions: whole graphs are refused with a message.
#include "api/acl_ge/session.h"

#include <string_view>

#include "api/acl_ge/entry.h"

namespace ge {

using anynpu::Code;
using anynpu::fail;
using anynpu::ge_door::enter;

namespace {

constexpr std::string_view kInstead =
    "which is not there; let operators run one by one: "
    "mindspore.set_context(jit_config={\"jit_level\": \"O0\"}), or a chip of the 910B family "
    "(ANYNPU_SOC=Ascend910B2), whose default is O0";

// MindSpore goes on after AddGraph and shows the last message: it repeats what to do.
graphStatus no_graph(const char* function, uint32_t id) {
  return enter(function, [&] {
    return fail(Code::unsupported_feature,
                "graph {} was not accepted: it is to be run as a whole (graph mode with jit_level "
                "O2), {}",
                id, kInstead);
  });
}

}  // namespace

graphStatus refuse_graph(uint32_t id, const Graph& graph) {
  return enter("Session::AddGraph", [&] {
    const auto& impl = GraphImpl::of(graph);
    return fail(
        Code::unsupported_feature,
        "graph {} ('{}', {} operators) is to be run as a whole (graph mode with jit_level O2), {}",
        id, impl ? impl->name : "", impl ? impl->nodes().size() : 0, kInstead);
  });
}

Session::~Session() = default;
graphStatus Session::RemoveGraph(uint32_t id) { return no_graph(__func__, id); }
graphStatus Session::CompileGraph(uint32_t id) { return no_graph(__func__, id); }
graphStatus Session::SetGraphConstMemoryBase(uint32_t id, const void*, size_t) {
  return no_graph(__func__, id);
}
graphStatus Session::SetGraphFixedFeatureMemoryBase(uint32_t id, const void*, size_t) {
  return no_graph(__func__, id);
}
graphStatus Session::UpdateGraphFeatureMemoryBase(uint32_t id, const void*, size_t) {
  return no_graph(__func__, id);
}
graphStatus Session::UpdateGraphRefreshableFeatureMemoryBase(uint32_t id, const void*, size_t) {
  return no_graph(__func__, id);
}
graphStatus Session::RunGraph(uint32_t id, const std::vector<Tensor>&, std::vector<Tensor>&) {
  return no_graph(__func__, id);
}
graphStatus Session::RunGraphAsync(uint32_t id, const std::vector<Tensor>&, Finished) {
  return no_graph(__func__, id);
}
graphStatus Session::RunGraphWithStreamAsync(uint32_t id, void*, const std::vector<Tensor>&,
                                             std::vector<Tensor>&) {
  return no_graph(__func__, id);
}
graphStatus Session::RegisterExternalAllocator(const void*, std::shared_ptr<Allocator>) const {
  return GRAPH_SUCCESS;
}
graphStatus Session::UnregisterExternalAllocator(const void*) const { return GRAPH_SUCCESS; }

std::shared_ptr<CompiledGraphSummary> Session::GetCompiledGraphSummary(uint32_t id) {
  no_graph(__func__, id);
  return nullptr;
}

bool CompiledGraphSummary::IsStatic() const { return false; }
graphStatus CompiledGraphSummary::GetConstMemorySize(size_t&) const { return GRAPH_FAILED; }
graphStatus CompiledGraphSummary::GetFeatureMemorySize(size_t&) const { return GRAPH_FAILED; }
graphStatus CompiledGraphSummary::GetFixedFeatureMemorySize(size_t&) const { return GRAPH_FAILED; }
graphStatus CompiledGraphSummary::GetRefreshableFeatureMemorySize(size_t&) const {
  return GRAPH_FAILED;
}
graphStatus CompiledGraphSummary::GetFeatureMemoryBaseRefreshable(bool&) const {
  return GRAPH_FAILED;
}
graphStatus CompiledGraphSummary::GetStreamNum(size_t&) const { return GRAPH_FAILED; }
graphStatus CompiledGraphSummary::GetEventNum(size_t&) const { return GRAPH_FAILED; }
graphStatus CompiledGraphSummary::GetOutputShapes(std::vector<Shape>&) const {
  return GRAPH_FAILED;
}
graphStatus CompiledGraphSummary::GetOutputDtypes(std::vector<DataType>&) const {
  return GRAPH_FAILED;
}
graphStatus CompiledGraphSummary::GetIOIndexesWithSameAddr(
    std::vector<std::pair<uint32_t, uint32_t>>&) const {
  return GRAPH_FAILED;
}

}  // namespace ge
