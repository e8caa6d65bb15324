// SPDX-License-Identifier: Apache-2.0
// Any text as acl.json, of aclInit and of aclmdlSetDump. What it configures is done: a small model
// and a single operator run under its dump, some of their runs fail or overflow, and profiling
// starts and ends. Behind a line of dashes follow the values of the runs. Files go into a folder of
// the fuzzer, whatever the text says.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compile/compile.h"
#include "graph/tensor_value.h"
#include "run_model.h"
#include "scratch_folder.h"
#include "service/config/config.h"
#include "service/dump/dump_control.h"
#include "service/dump/dump_paths.h"
#include "service/finalize.h"
#include "service/profile/configured.h"

namespace {

using namespace anynpu;

void add_node(graph::Graph& graph, const char* op, std::vector<graph::ValueId> inputs,
              graph::ValueId output) {
  graph::Node node;
  node.op = op;
  node.name = std::string(1, static_cast<char>('a' + graph.nodes.size()));
  node.opset = 13;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  graph.nodes.push_back(std::move(node));
}

// "m", with nodes "a", "b" and "c": exp(x) overflows where x is large, Gather fails where an index
// is outside.
om::Model small_model() {
  graph::Graph graph;
  graph.name = "m";
  const auto value = [&](const char* name, DType dtype, Shape shape) {
    return graph.add_value(graph::tensor_value(name, dtype, std::move(shape)));
  };
  const auto x = value("x", DType::f32, {2, 3});
  const auto index = value("index", DType::i32, {2});
  const auto large = value("large", DType::f32, {2, 3});
  const auto half = value("half", DType::f32, {2, 3});
  const auto y = value("y", DType::f32, {2, 3});
  graph.inputs = {x, index};
  graph.outputs = {y};
  add_node(graph, "Exp", {x}, large);
  add_node(graph, "Sigmoid", {large}, half);
  add_node(graph, "Gather", {half, index}, y);
  auto model = compile::compile(std::move(graph), {});
  if (!model.ok()) std::abort();
  model->meta.name = "m";
  model->meta.options.emplace_back("status_check", "1");
  return std::move(*model);
}

void run_watched(std::shared_ptr<exec::StepObserver> observer, fuzz::Bytes& bytes) {
  static const auto model = std::make_shared<const om::Model>(small_model());
  exec::LoadOptions options;
  options.observer = std::move(observer);
  const auto loaded = exec::LoadedModel::load(model, options);
  if (!loaded.ok()) std::abort();
  if (options.observer) options.observer->set_model_id(1);
  for (int i = 0; i < 2; ++i) fuzz::run_loaded(**loaded, bytes);
}

void carry_out(service::RuntimeConfig config, fuzz::Bytes bytes) {
  static const fuzz::ScratchFolder folder;
  if (config.dump) config.dump->path = folder.path();
  if (config.profiler) config.profiler->output = folder.path();
  if (!service::start_configured_profiling(config).ok()) std::abort();
  service::set_current_config(std::move(config));
  om::Meta meta;
  meta.name = "m";
  meta.options = {{"status_check", "1"}};
  run_watched(service::observer_for_model(meta, 0), bytes);
  run_watched(service::observer_for_operators(0), bytes);
  (void)service::kernel_dump_target(0);
  for (int kind = 1; kind <= 5; ++kind) (void)service::dump_path(kind).ok();
  service::end_configured_profiling();
  service::set_current_config({});
  folder.clear();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kCut = "\n----\n";
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t cut = all.find(kCut);
  auto config = service::parse_config(all.substr(0, cut), "acl.json");
  if (!config.ok() && config.status().message().empty()) std::abort();
  const size_t values = cut == std::string_view::npos ? size : cut + kCut.size();
  if (config.ok() && (config->dump || config->profiler))
    carry_out(std::move(*config), fuzz::Bytes(std::span(data, size).subspan(values)));
  return 0;
}
