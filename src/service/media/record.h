// SPDX-License-Identifier: Apache-2.0
// A struct of a front door as bytes: settings without effect here, which getters return as the
// program wrote them. Only the front door interprets them.
#pragma once

#include <cstddef>
#include <vector>

namespace anynpu::media {

using Record = std::vector<std::byte>;  // empty: the program never wrote it

}  // namespace anynpu::media
