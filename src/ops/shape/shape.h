// SPDX-License-Identifier: Apache-2.0
// Operators that change the shape or the order of elements, and those that make tensors from
// shapes; one register function per file.
#pragma once

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::shape {

void register_shape_of(Registry& registry);
void register_reshape(Registry& registry);
void register_concat(Registry& registry);
void register_transpose(Registry& registry);
void register_slice(Registry& registry);
void register_split(Registry& registry);
void register_repeat(Registry& registry);
void register_pad(Registry& registry);
void register_rearrange(Registry& registry);
void register_views(Registry& registry);

}  // namespace anynpu::ops::shape
