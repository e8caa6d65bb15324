// SPDX-License-Identifier: Apache-2.0
// Data movement: operators that copy elements without looking at them. Three files by how they
// move: views (same bytes, new shape), concat (runs), transpose (strided copy).
#pragma once

namespace anynpu::ops {

class Registry;

void register_views(Registry& registry);
void register_concat(Registry& registry);
void register_transpose(Registry& registry);

}  // namespace anynpu::ops
