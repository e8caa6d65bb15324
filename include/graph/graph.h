/* SPDX-License-Identifier: Apache-2.0 */
/* ge::Graph: a model between the parser and the compiler (ge/ge_ir_build.h). */
#ifndef GRAPH_GRAPH_H_
#define GRAPH_GRAPH_H_

#include <memory>

#include "graph/ascend_string.h"
#include "graph/ge_error_codes.h"

namespace ge {

class GraphImpl;

// Copies are the same graph.
class __attribute__((visibility("default"))) Graph {
 public:
  Graph() = default;
  ~Graph() = default;
  explicit Graph(const char* name);

  // Whether a parser has filled it.
  bool IsValid() const;
  graphStatus GetName(AscendString& name) const;

 private:
  friend class GraphImpl;
  std::shared_ptr<GraphImpl> impl_;
};

}  // namespace ge

#endif
