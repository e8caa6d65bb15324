// SPDX-License-Identifier: Apache-2.0
// The weights of a caffemodel, by the name of the layer: new and old layers, every way a blob is
// stored. Memory grows with the file, not with the numbers in it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/shape.h"

namespace anynpu::caffe {

struct Blob {
  Shape shape;
  std::shared_ptr<const std::vector<float>> data;  // as many as `shape` says
};

using Weights = std::map<std::string, std::vector<Blob>, std::less<>>;

Result<Weights> read_weights(std::span<const std::byte> bytes);

}  // namespace anynpu::caffe
