// SPDX-License-Identifier: Apache-2.0
// What the files of aclmdlDesc functions share.
#pragma once

#include <memory>

#include "acl/mdl/desc.h"
#include "api/acl/model_objects.h"

namespace anynpu::acl {

// One input or output; keeps the description it belongs to alive.
struct DescEntry {
  std::shared_ptr<const om::Meta> meta;
  const om::TensorInfo* info;
  uint32_t model_id;
};

Result<DescEntry> find_entry(const aclmdlDesc* desc, TensorSide side, size_t index);

// Name and `shape` as aclmdlIODims; fails for more dims than it holds.
Status fill_dims(const DescEntry& entry, TensorSide side, size_t index, const Shape& shape,
                 aclmdlIODims* dims);

}  // namespace anynpu::acl
