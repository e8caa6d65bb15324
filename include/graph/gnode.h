/* SPDX-License-Identifier: Apache-2.0 */
/* ge::GNode: an operator in its graph. */
#ifndef GRAPH_GNODE_H_
#define GRAPH_GNODE_H_

#include "./graph.h"

namespace ge {

class GNode;
class NodeImpl;
using GNodePtr = std::shared_ptr<GNode>;

class __attribute__((visibility("default"))) GNode {
 public:
  GNode() = default;
  ~GNode() = default;
  graphStatus GetName(AscendString& name) const;
  graphStatus GetType(AscendString& type) const;
  size_t GetInputsSize() const;
  size_t GetOutputsSize() const;
  // The node before an input, and which of its outputs; null for none.
  std::pair<GNodePtr, int32_t> GetInDataNodesAndPortIndexs(const int32_t input) const;
  // The nodes behind an output, and which of their inputs.
  std::vector<std::pair<GNodePtr, int32_t>> GetOutDataNodesAndPortIndexs(
      const int32_t output) const;
  std::vector<GNodePtr> GetInControlNodes() const;
  std::vector<GNodePtr> GetOutControlNodes() const;

 private:
  friend class NodeImpl;
  std::shared_ptr<NodeImpl> impl_;
};

}  // namespace ge

#endif
