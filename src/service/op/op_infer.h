// SPDX-License-Identifier: Apache-2.0
// Shapes of an operator's outputs before it runs: from descriptions and, where a shape depends on
// them, from the values of its inputs. Thread-safe.
#pragma once

#include "service/op/op_call.h"

namespace anynpu::service {

// Writes shapes, and types and formats that are left open, into the descriptions of the outputs.
// `inputs` are handles of data buffers, one for each input; null: no values.
Status infer_shapes(const OpArguments& arguments, const void* const* inputs);

}  // namespace anynpu::service
