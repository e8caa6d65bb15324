// SPDX-License-Identifier: Apache-2.0
#include "compile/stages.h"

#include <filesystem>

#include "base/env.h"
#include "base/whole_file.h"
#include "compile/model_json.h"

namespace anynpu::compile {

Status write_graph_text(const graph::Graph& graph, const std::string& model_name,
                        const std::string& path) {
  const std::string text = to_prototext(to_json(graph, model_name));
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  return write_file_atomically(path, parts);
}

namespace {

// The variable as a number from `low` to `high`; -1 for others.
int64_t read(env::Name name, int64_t low, int64_t high) {
  const int64_t value =
      env::get(name).value_or("").empty() ? env::integer(name) : env::integer(name, -1);
  return value < low || value > high ? -1 : value;
}

}  // namespace

StageDump::StageDump(std::string model_name, Warn warn)
    : model_name_(std::move(model_name)), warn_(std::move(warn)) {
  const int64_t content = read(env::Name::dump_ge_graph, 0, 3);
  const int64_t level = read(env::Name::dump_graph_level, 1, 4);
  if (content == 0) return;
  if (content < 0 || level < 0) {
    if (warn_)
      warn_(
          format("DUMP_GE_GRAPH is '{}' and DUMP_GRAPH_LEVEL is '{}'; expected 1 to 3 and 1 to 4, "
                 "no stage graphs are written",
                 env::text(env::Name::dump_ge_graph), env::text(env::Name::dump_graph_level)));
    return;
  }
  level_ = level;
  folder_ = env::text(env::Name::dump_graph_path);
  if (folder_.empty()) folder_ = ".";
  std::error_code error;
  std::filesystem::create_directories(folder_, error);  // what fails shows when a file is written
}

void StageDump::operator()(std::string_view stage, const graph::Graph& graph) {
  if (level_ == 0 || (level_ == 3 && stage != kBuild) || (level_ == 4 && stage != kBegin)) return;
  const std::string name = format("ge_proto_{:05}_{}_{}.txt", count_++, model_name_, stage);
  const std::string path = (std::filesystem::path(folder_) / name).string();
  const Status status = write_graph_text(graph, model_name_, path);
  if (status.ok()) return;
  if (warn_) warn_(format("DUMP_GE_GRAPH: {}", status.to_string()));
  level_ = 0;  // once is enough
}

}  // namespace anynpu::compile
