// SPDX-License-Identifier: Apache-2.0
#include "service/graph_build/graph_build.h"

#include <memory>
#include <mutex>
#include <utility>

#include "base/mapped_file.h"
#include "base/whole_file.h"
#include "compile/compile.h"
#include "import/onnx/onnx.h"
#include "om/container.h"
#include "service/graph_build/graph_options.h"

namespace anynpu::service {

namespace {

// The options of begin_graph_builds().
struct SharedOptions {
  std::mutex mutex;
  GraphOptions options;
};

SharedOptions& shared_options() {
  static auto* shared = new SharedOptions;
  return *shared;
}

GraphOptions with_shared(GraphOptions options) {
  SharedOptions& shared = shared_options();
  const std::lock_guard lock(shared.mutex);
  options.insert(shared.options.begin(), shared.options.end());  // those that are there stay
  return options;
}

}  // namespace

Status begin_graph_builds(const GraphOptions& options) {
  ANYNPU_TRY(read_graph_options(options).status());
  SharedOptions& shared = shared_options();
  const std::lock_guard lock(shared.mutex);
  shared.options = options;
  return {};
}

void end_graph_builds() {
  SharedOptions& shared = shared_options();
  const std::lock_guard lock(shared.mutex);
  shared.options.clear();
}

Result<graph::Graph> parse_onnx(std::span<const std::byte> bytes) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  ANYNPU_ASSIGN(onnx::Model model, onnx::import_memory(*copy, copy));
  return std::move(model.graph);
}

Result<graph::Graph> parse_onnx_file(const std::string& path) {
  ANYNPU_ASSIGN(onnx::Model model, onnx::import_file(path));
  return std::move(model.graph);
}

Result<std::vector<std::byte>> build_graph_model(const graph::Graph& graph, const std::string& name,
                                                 const GraphOptions& options) {
  ANYNPU_ASSIGN(compile::Options read, read_graph_options(with_shared(options)));
  read.model_name = name;
  ANYNPU_ASSIGN(const om::Model model, compile::compile(graph, read), "while compiling '{}'", name);
  return om::to_bytes(model);
}

Status save_graph_model(const std::string& path, std::span<const std::byte> bytes) {
  ANYNPU_TRY(om::read_meta(bytes).status(), "in the model for '{}'", path);
  const std::span<const std::byte> parts[] = {bytes};
  return write_file_atomically(path.ends_with(".om") ? path : path + ".om", parts);
}

}  // namespace anynpu::service
