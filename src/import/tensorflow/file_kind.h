// SPDX-License-Identifier: Apache-2.0
// Files that people have instead of a frozen GraphDef: each is refused by its name with the command
// that makes one.
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

}  // namespace anynpu::tensorflow
