/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles a ge::Graph to an offline model in the program's own process: initialise, build, save or
 * load the bytes with aclmdlLoadFromMem, finalise. Options are named in ge/ge_api_types.h.
 *
 * Every function returns GRAPH_SUCCESS, or GRAPH_PARAM_INVALID or GRAPH_FAILED with the reason in
 * aclGetRecentErrMsg(). All may be called from several threads.
 */
#ifndef GE_GE_IR_BUILD_H_
#define GE_GE_IR_BUILD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "../graph/graph.h"
#include "ge/ge_api_types.h"

#define GE_FUNC_VISIBILITY __attribute__((visibility("default")))

namespace ge {

// An offline model in memory.
struct ModelBufferData {
  std::shared_ptr<uint8_t> data = nullptr;
  uint64_t length;
};

// Options of all models that are built until finalising. A second call replaces them.
GE_FUNC_VISIBILITY graphStatus
aclgrphBuildInitialize(std::map<AscendString, AscendString>& global_options);
GE_FUNC_VISIBILITY graphStatus
aclgrphBuildInitialize(std::map<std::string, std::string> global_options);
GE_FUNC_VISIBILITY void aclgrphBuildFinalize();

// Options given here override those of aclgrphBuildInitialize.
GE_FUNC_VISIBILITY graphStatus
aclgrphBuildModel(const Graph& graph, const std::map<AscendString, AscendString>& build_options,
                  ModelBufferData& model);
GE_FUNC_VISIBILITY graphStatus
aclgrphBuildModel(const Graph& graph, const std::map<std::string, std::string>& build_options,
                  ModelBufferData& model);

// Writes the model to `output_file`; .om is appended if missing.
GE_FUNC_VISIBILITY graphStatus aclgrphSaveModel(const char* output_file,
                                                const ModelBufferData& model);
GE_FUNC_VISIBILITY graphStatus aclgrphSaveModel(const std::string& output_file,
                                                const ModelBufferData& model);

// Of the interface: 1.0.0.
GE_FUNC_VISIBILITY graphStatus aclgrphGetIRVersion(int* major_version, int* minor_version,
                                                   int* patch_version);

}  // namespace ge

#endif
