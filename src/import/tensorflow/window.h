// SPDX-License-Identifier: Apache-2.0
// The attributes strides, ksize, dilations and padding of the current node, converted to those of
// our convolution and pooling operators.
#pragma once

#include "import/tensorflow/builder.h"

namespace anynpu::tensorflow {

enum class Window { with_dilations, of_pooling };

// strides, dilations, kernel_shape (pooling) and pads or auto_pad for an image of `rank` axes.
NodeAttrs window_attrs(Builder& b, size_t rank, Window kind);

// The entries of the spatial axes, from a list in the order of data_format.
Ints spatial_entries(Builder& b, std::string_view name, Ints list, size_t rank, bool last);

}  // namespace anynpu::tensorflow
