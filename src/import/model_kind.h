// SPDX-License-Identifier: Apache-2.0
// What a model file is, by its bytes, whichever --framework was given: a reader refuses the files
// of the others with the option to type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace anynpu {

enum class ModelKind : uint8_t {
  unknown,
  empty,
  caffemodel,
  prototxt,
  mindspore,  // .mindir, .air
  graph_def,
  graph_text,  // .pbtxt
  saved_model,
  onnx,
  offline,  // .om, ours or the vendor's
  hdf5,
  zip,
  tflite,
  text,
};
ModelKind kind_of(std::span<const std::byte> bytes);

// "is an ONNX model; use --framework=5"; empty for a file of no known kind.
std::string_view advice_for(ModelKind kind);

// Refuses a file that --framework=`framework` does not take, as far as its kind is known.
Status check_kind(std::span<const std::byte> bytes, int framework);

}  // namespace anynpu
