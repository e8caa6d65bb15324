// SPDX-License-Identifier: Apache-2.0
// Files that people pass instead of a frozen GraphDef: the refusal names the kind of file and the
// command that freezes it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace anynpu::tensorflow {

// By the name of the file or folder: SavedModel, Keras, checkpoints.
Status check_path(const std::string& path);

// By the bytes (import/model_kind.h); `path` is the name in the command.
Status check_bytes(std::span<const std::byte> bytes, const std::string& path);

// Whether the first message is a node of a GraphDef, with a name and an operator: the file belongs
// to
// --framework=3, whichever was given.
bool begins_as_graph_def(std::span<const std::byte> bytes);

}  // namespace anynpu::tensorflow
