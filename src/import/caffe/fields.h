// SPDX-License-Identifier: Apache-2.0
// The known fields of prototxt messages. Caffe refuses unknown fields; without a schema a misspelt
// one would silently get its default.
#pragma once

#include "base/prototext.h"

namespace anynpu::caffe {

// The net itself: its fields, but not what is inside of its layers.
Status check_net_fields(const TextField& net);

// A layer, and the messages in it that say what it computes.
Status check_layer_fields(const TextField& layer);

}  // namespace anynpu::caffe
