// SPDX-License-Identifier: Apache-2.0
// A ModelDef as JSON, with the field names of the file (fields.def), every attribute included. Data
// of tensors is left out: "data_bytes" says how much there is.
#pragma once

#include <span>

#include "base/json.h"
#include "base/result.h"

namespace anynpu::ge {

// Maps are lists of {"key", "value"}. Fields that are not known are left out.
Result<json::Value> model_def_json(std::span<const std::byte> bytes);

}  // namespace anynpu::ge
