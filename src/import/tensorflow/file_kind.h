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

// By the first bytes: HDF5, a zip archive, TFLite, a text protobuf, an ONNX model, a SavedModel.
Status check_bytes(std::span<const std::byte> bytes);

// Whether the first message is a node of a GraphDef, with a name and an operator: the file belongs
// to
// --framework=3, whichever was given.
bool begins_as_graph_def(std::span<const std::byte> bytes);

}  // namespace anynpu::tensorflow
