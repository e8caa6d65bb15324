// SPDX-License-Identifier: Apache-2.0
#include "compile/stages.h"

#include <cstdio>
#include <filesystem>

#include "base/env.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "compile/model_json.h"

namespace anynpu::compile {

Status write_graph_text(const graph::Graph& graph, const std::string& model_name,
                        const std::string& path) {
  const std::string text = to_prototext(to_json(graph, model_name));
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  return write_file_atomically(path, parts);
}

StageDump::StageDump(std::string model_name) : model_name_(std::move(model_name)) {
  const int64_t content = env::integer(env::Name::dump_ge_graph);
  if (content < 1 || content > 3) return;
  level_ = env::integer(env::Name::dump_graph_level);
  folder_ = env::text(env::Name::dump_graph_path);
  if (folder_.empty()) folder_ = ".";
}

void StageDump::operator()(std::string_view stage, const graph::Graph& graph) {
  if (level_ == 0 || (level_ == 3 && stage != kBuild) || (level_ == 4 && stage != kBegin)) return;
  char number[16];
  std::snprintf(number, sizeof number, "%05d", count_++);
  const std::string name = format("ge_proto_{}_{}_{}.txt", number, model_name_, stage);
  const std::string path = (std::filesystem::path(folder_) / name).string();
  const Status status = write_graph_text(graph, model_name_, path);
  if (!status.ok()) ANYNPU_LOG(warning, "DUMP_GE_GRAPH: {}", status.to_string());
}

}  // namespace anynpu::compile
