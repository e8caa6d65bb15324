// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "api/acl_ge/entry.h"
#include "api/arguments.h"

namespace ge {

using anynpu::Code;
using anynpu::fail;
using anynpu::Status;
using anynpu::api::check_pointer;
using anynpu::ge_door::enter;
using anynpu::ge_door::to_options;

namespace {

// Bytes in memory that the model's last holder frees.
ModelBufferData to_buffer(const std::vector<std::byte>& bytes) {
  std::shared_ptr<uint8_t> data(new uint8_t[bytes.size()], std::default_delete<uint8_t[]>());
  std::memcpy(data.get(), bytes.data(), bytes.size());
  return {std::move(data), bytes.size()};
}

Status build(const Graph& graph, const anynpu::service::GraphOptions& options,
             ModelBufferData& model) {
  const auto& impl = GraphImpl::of(graph);
  if (!impl || !impl->source) {
    return fail(Code::invalid_argument,
                "the graph is empty; fill it with aclgrphParseONNX or aclgrphParseONNXFromMem");
  }
  ANYNPU_ASSIGN(const auto bytes,
                anynpu::service::build_graph_model(*impl->source, impl->name, options));
  model = to_buffer(bytes);
  return {};
}

}  // namespace

graphStatus aclgrphBuildInitialize(std::map<AscendString, AscendString>& global_options) {
  return enter(__func__,
               [&] { return anynpu::service::begin_graph_builds(to_options(global_options)); });
}

void aclgrphBuildFinalize() { anynpu::service::end_graph_builds(); }

graphStatus aclgrphBuildModel(const Graph& graph,
                              const std::map<AscendString, AscendString>& build_options,
                              ModelBufferData& model) {
  return enter(__func__, [&] { return build(graph, to_options(build_options), model); });
}

graphStatus aclgrphSaveModel(const char* output_file, const ModelBufferData& model) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(output_file, "output_file"));
    ANYNPU_TRY(check_pointer(model.data.get(), "model.data"));
    return anynpu::service::save_graph_model(
        output_file, std::as_bytes(std::span(model.data.get(), model.length)));
  });
}

graphStatus aclgrphGetIRVersion(int* major_version, int* minor_version, int* patch_version) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(major_version, "major_version"));
    ANYNPU_TRY(check_pointer(minor_version, "minor_version"));
    ANYNPU_TRY(check_pointer(patch_version, "patch_version"));
    *major_version = 1, *minor_version = 0, *patch_version = 0;
    return {};
  });
}

}  // namespace ge
