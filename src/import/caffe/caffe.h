// SPDX-License-Identifier: Apache-2.0
// Caffe prototxt + caffemodel -> Graph of ONNX operators (opset 13). Both forms of layers are read
// (`layer`, and the older `layers`), in the TEST phase. Shapes are inferred while layers are read,
// because many layers depend on them. One message lists all unsupported layers, another all layers
// without weights.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"

namespace anynpu::caffe {

// Layers whose type is a key are read as if it were the value.
using LayerTypes = std::map<std::string, std::string>;

// Shapes that replace those of the file, by the name of the input. -1 = known at run time only.
using InputShapes = std::map<std::string, Shape>;

// `weights` may be empty when no layer has weights.
Result<graph::Graph> import_files(const std::string& prototxt, const std::string& weights,
                                  const InputShapes& shapes = {}, const LayerTypes& types = {});

// The same from memory; nothing given stays referenced. `weights` may be empty; `file` is what
// messages call the prototxt.
Result<graph::Graph> import_memory(std::string_view prototxt, std::span<const std::byte> weights,
                                   const InputShapes& shapes = {}, const LayerTypes& types = {},
                                   std::string_view file = {});

}  // namespace anynpu::caffe
