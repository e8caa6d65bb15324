// SPDX-License-Identifier: Apache-2.0
// The weights of a caffemodel, by layer name: new and old layers, every way to store a blob. Memory
// use is bounded by the size of the file, not by numbers in it.
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
