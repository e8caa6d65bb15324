/* SPDX-License-Identifier: Apache-2.0 */
/* What functions of the graph engine return. The reason of a failure is in aclGetRecentErrMsg(). */
#ifndef GRAPH_GE_ERROR_CODES_H_
#define GRAPH_GE_ERROR_CODES_H_

#include <cstdint>

namespace ge {

using graphStatus = uint32_t;

constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;
constexpr graphStatus GRAPH_NODE_WITHOUT_CONST_INPUT = 50331648;
constexpr graphStatus GRAPH_NOT_CHANGED = 1343242304;

}  // namespace ge

#endif
