/* SPDX-License-Identifier: Apache-2.0 */
/* From ONNX to ge::Graph. Options are those of atc that concern reading a model. */
#ifndef PARSER_ONNX_PARSER_H_
#define PARSER_ONNX_PARSER_H_

#include <cstddef>
#include <map>

#include "../graph/graph.h"

#define PARSER_FUNC_VISIBILITY __attribute__((visibility("default")))

namespace ge {

PARSER_FUNC_VISIBILITY graphStatus
aclgrphParseONNX(const char* model_file, const std::map<AscendString, AscendString>& parser_params,
                 Graph& graph);
// The bytes may be freed after the call. Tensors in external files are refused.
PARSER_FUNC_VISIBILITY graphStatus
aclgrphParseONNXFromMem(const char* buffer, size_t size,
                        const std::map<AscendString, AscendString>& parser_params, Graph& graph);

}  // namespace ge

#endif
