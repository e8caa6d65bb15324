// SPDX-License-Identifier: Apache-2.0
// The functions that take std::string. Compiled twice, for both layouts that libstdc++ has of it
// (_GLIBCXX_USE_CXX11_ABI), since programs are compiled with either.
#include "ge/ge_ir_build.h"

namespace ge {

namespace {

std::map<AscendString, AscendString> to_texts(const std::map<std::string, std::string>& map) {
  std::map<AscendString, AscendString> texts;
  for (const auto& [name, value] : map) {
    texts[AscendString(name.c_str())] = AscendString(value.c_str());
  }
  return texts;
}

}  // namespace

graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> global_options) {
  auto texts = to_texts(global_options);
  return aclgrphBuildInitialize(texts);
}

graphStatus aclgrphBuildModel(const Graph& graph,
                              const std::map<std::string, std::string>& build_options,
                              ModelBufferData& model) {
  return aclgrphBuildModel(graph, to_texts(build_options), model);
}

graphStatus aclgrphSaveModel(const std::string& output_file, const ModelBufferData& model) {
  return aclgrphSaveModel(output_file.c_str(), model);
}

}  // namespace ge
