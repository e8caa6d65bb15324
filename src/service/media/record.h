// SPDX-License-Identifier: Apache-2.0
// A structure of a front door, byte by byte: settings that have no effect here are given back as
// the program wrote them. Only the front door looks inside.
#pragma once

#include <cstddef>
#include <vector>

namespace anynpu::media {

using Record = std::vector<std::byte>;  // empty: the program never wrote it

}  // namespace anynpu::media
