// SPDX-License-Identifier: Apache-2.0
// Models with gears: what they are, and choosing one for the next execution with a dataset. The
// chosen extents are written into the buffer of the input ascend_mbatch_shape_data too, as
// documented; executions read the dataset. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "om/model.h"
#include "tensor/tensor_desc.h"

namespace anynpu::service {

using Gear = std::vector<int64_t>;

// `index` is that of the input with the gear. Fails with model_has_no_gears, gear_not_found, or
// parameter_input_size when its buffer is too small.
Status set_gear(uint32_t model_id, Handle dataset, size_t index, om::GearKind kind,
                const Gear& gear);

struct NamedShape {
  std::string name;
  Shape shape;
};
// An output in the gear that was set last; in the largest before any was.
Result<NamedShape> current_output_shape(Handle desc, size_t index);

// None when the model has gears of another kind, or no gears at all.
Result<std::vector<Gear>> gears_of(Handle desc, om::GearKind kind);
// The gears of --dynamic_dims. Fails if there are none, or more than `room`.
Result<std::vector<Gear>> dims_gears(Handle desc, size_t room);

struct DimRanges {
  std::string name;
  Shape shape;
  std::vector<om::Range> ranges;  // one per dimension
};
// The smallest and largest extent of each dimension of an input.
Result<DimRanges> input_ranges(Handle desc, size_t index);

}  // namespace anynpu::service
