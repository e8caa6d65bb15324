/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting and ending the graph engine, and sessions. Whole graphs are not run by sessions here:
 * their functions refuse with a message (aclGetRecentErrMsg). Compile a graph with
 * ge/ge_ir_build.h, or run operators one by one.
 */
#ifndef GE_GE_API_H_
#define GE_GE_API_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "../graph/graph.h"
#include "graph/ge_error_codes.h"
#include "graph/tensor.h"

namespace ge {

class Allocator;

// Programs call it before other functions of the graph engine. Options are those of sessions.
GRAPH_VISIBLE graphStatus GEInitialize(const std::map<std::string, std::string>& options);
GRAPH_VISIBLE graphStatus GEInitialize(const std::map<AscendString, AscendString>& options);
GRAPH_VISIBLE graphStatus GEFinalize();

// Texts of error numbers, which programs write and read themselves.
class GRAPH_VISIBLE StatusFactory {
 public:
  static StatusFactory* Instance();

 private:
  std::map<uint32_t, std::string> texts_;
};

// What a compiled graph needs. No session makes one.
class GRAPH_VISIBLE CompiledGraphSummary {
 public:
  bool IsStatic() const;
  graphStatus GetConstMemorySize(size_t& size) const;
  graphStatus GetFeatureMemorySize(size_t& size) const;
  graphStatus GetFixedFeatureMemorySize(size_t& size) const;
  graphStatus GetRefreshableFeatureMemorySize(size_t& size) const;
  graphStatus GetFeatureMemoryBaseRefreshable(bool& refreshable) const;
  graphStatus GetStreamNum(size_t& count) const;
  graphStatus GetEventNum(size_t& count) const;
  graphStatus GetOutputShapes(std::vector<Shape>& shapes) const;
  graphStatus GetOutputDtypes(std::vector<DataType>& types) const;
  graphStatus GetIOIndexesWithSameAddr(std::vector<std::pair<uint32_t, uint32_t>>& pairs) const;
};

class GRAPH_VISIBLE Session {
 public:
  using Callback = uint32_t (*)(uint32_t graph, const std::map<std::string, Tensor>& tensors);
  using Finished = std::function<void(graphStatus status, std::vector<Tensor>& outputs)>;

  explicit Session(const std::map<std::string, std::string>& options);
  ~Session();

  // Graphs are refused.
  graphStatus AddGraph(uint32_t id, const Graph& graph,
                       const std::map<std::string, std::string>& options);
  graphStatus RemoveGraph(uint32_t id);
  graphStatus CompileGraph(uint32_t id);
  std::shared_ptr<CompiledGraphSummary> GetCompiledGraphSummary(uint32_t id);
  graphStatus SetGraphConstMemoryBase(uint32_t id, const void* memory, size_t size);
  graphStatus SetGraphFixedFeatureMemoryBase(uint32_t id, const void* memory, size_t size);
  graphStatus UpdateGraphFeatureMemoryBase(uint32_t id, const void* memory, size_t size);
  graphStatus UpdateGraphRefreshableFeatureMemoryBase(uint32_t id, const void* memory, size_t size);
  graphStatus RunGraph(uint32_t id, const std::vector<Tensor>& inputs,
                       std::vector<Tensor>& outputs);
  graphStatus RunGraphAsync(uint32_t id, const std::vector<Tensor>& inputs, Finished finished);
  graphStatus RunGraphWithStreamAsync(uint32_t id, void* stream, const std::vector<Tensor>& inputs,
                                      std::vector<Tensor>& outputs);
  // Accepted: there is no graph whose results it would be given.
  graphStatus RegisterCallBackFunc(const std::string& key, const Callback& callback);
  // Accepted: there is no graph that would need memory.
  graphStatus RegisterExternalAllocator(const void* stream,
                                        std::shared_ptr<Allocator> allocator) const;
  graphStatus UnregisterExternalAllocator(const void* stream) const;

 private:
  uint64_t id_ = 0;
};

}  // namespace ge

#endif
