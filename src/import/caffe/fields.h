// SPDX-License-Identifier: Apache-2.0
// The fields that messages of a prototxt have. Caffe refuses a field it does not know; read without
// a schema, a misspelt one would silently stand for its default.
#pragma once

#include "base/prototext.h"

namespace anynpu::caffe {

// The net itself: its fields, but not what is inside of its layers.
Status check_net_fields(const TextField& net);

// A layer, and the messages in it that say what it computes.
Status check_layer_fields(const TextField& layer);

}  // namespace anynpu::caffe
