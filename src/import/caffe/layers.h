// SPDX-License-Identifier: Apache-2.0
// The functions of layers: each reads the parameters of the builder's current layer and adds the
// nodes that compute its tops. layers.cpp holds the table of types.
#pragma once

#include "import/caffe/builder.h"

namespace anynpu::caffe {

// layers_window.cpp: layers that slide a window over the spatial axes, and InnerProduct
Status convolution(Builder& b);
Status deconvolution(Builder& b);
Status pooling(Builder& b);
Status inner_product(Builder& b);
Status im2col(Builder& b);
Status spp(Builder& b);

// layers_activation.cpp: one element in, one element out
Status relu(Builder& b);
Status relu6(Builder& b);
Status prelu(Builder& b);
Status elu(Builder& b);
Status sigmoid(Builder& b);
Status tanh_layer(Builder& b);
Status abs_val(Builder& b);
Status bnll(Builder& b);
Status exp_layer(Builder& b);
Status log_layer(Builder& b);
Status power(Builder& b);
Status threshold(Builder& b);
Status pass(Builder& b);  // Dropout, Split

// layers_norm.cpp: normalisation and per-channel arithmetic
Status batch_norm(Builder& b);
Status scale(Builder& b);
Status bias(Builder& b);
Status eltwise(Builder& b);
Status softmax(Builder& b);
Status lrn(Builder& b);
Status normalize(Builder& b);
Status mvn(Builder& b);
Status reduction(Builder& b);
Status arg_max(Builder& b);

// layers_shape.cpp: elements moved, not changed
Status concat(Builder& b);
Status slice(Builder& b);
Status flatten(Builder& b);
Status reshape_layer(Builder& b);
Status permute(Builder& b);
Status crop(Builder& b);
Status tile(Builder& b);
Status embed(Builder& b);
Status batch_reindex(Builder& b);
Status shuffle_channel(Builder& b);
Status reorg(Builder& b);
Status silence(Builder& b);

// layers_resize.cpp: Interp and Upsample
Status interp(Builder& b);
Status upsample(Builder& b);

// layers_detect.cpp: what detectors add
Status prior_box(Builder& b);
Status roi_pooling(Builder& b);
Status ps_roi_pooling(Builder& b);
Status detection_output(Builder& b);

// layers_yolo.cpp: Region, YoloRegion, Yolo
Status yolo_region(Builder& b);

// layers_recurrent.cpp
Status lstm(Builder& b);

}  // namespace anynpu::caffe
