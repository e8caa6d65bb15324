// SPDX-License-Identifier: Apache-2.0
// The card's names of operators beside those of ONNX.
#pragma once

#include <string>
#include <string_view>

namespace anynpu::singleop {

// The ONNX name of an operator that the card calls `name` (Conv2D -> Conv); `name` itself when
// there is no other.
std::string onnx_name(std::string_view name);

}  // namespace anynpu::singleop
