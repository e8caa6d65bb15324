// SPDX-License-Identifier: Apache-2.0
// AIPP of loaded models: the settings of an input, and the parameters of dynamic AIPP for the next
// executions with a dataset. They are checked against the model when they are set, and written to
// the buffer of the input ascend_dynamic_aipp_data. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "om/model.h"
#include "ops/aipp/params.h"
#include "tensor/tensor_desc.h"

namespace anynpu::service {

// Which input an index stands for.
enum class AippIndex { pictures, parameters };

// Fails with no_dynamic_aipp for another input, with parameter_input_size when the buffer of the
// parameters is too small.
Status set_aipp(uint32_t model_id, Handle dataset, AippIndex kind, size_t index, Handle parameters);

// The input that takes the parameters of meta.aipp[which].
size_t aipp_parameter_index(const om::Meta& meta, size_t which);
// The batch size of a gear.
int64_t aipp_batch(const om::Meta& meta, const om::Aipp& aipp, size_t gear);

enum class AippKind { none, fixed, dynamic, parameters };
struct AippOfInput {
  AippKind kind = AippKind::none;
  std::optional<size_t> parameter_index;  // of an input with dynamic AIPP
};
Result<AippOfInput> aipp_of_input(uint32_t model_id, size_t index);

// The AIPP that a model was compiled with.
struct FixedAipp {
  struct GearShapes {
    Shape picture;  // N, H, W, C
    size_t picture_bytes = 0;
    Shape output;  // N, C, H, W
    size_t output_bytes = 0;
  };
  std::string input_name;
  ops::AippHeader header;
  ops::AippBatch parameters;
  bool nhwc = false;
  DType dtype = {};
  std::vector<GearShapes> gears;  // one for a model without gears
};
// Fails with no_static_aipp.
Result<FixedAipp> fixed_aipp_of_input(uint32_t model_id, size_t index);

}  // namespace anynpu::service
