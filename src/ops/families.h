// SPDX-License-Identifier: Apache-2.0
// The explicit list of operator families: each folder adds its schemas and kernels here, in order
// of preference.
#pragma once

namespace anynpu::ops {

class Registry;

void register_conv(Registry& registry);
void register_bottleneck(Registry& registry);
void register_batch_norm(Registry& registry);
void register_elementwise(Registry& registry);
void register_pool(Registry& registry);
void register_gemm(Registry& registry);
void register_attention(Registry& registry);
void register_softmax(Registry& registry);
void register_move(Registry& registry);
void register_detect(Registry& registry);
void register_aipp(Registry& registry);
void register_block(Registry& registry);
void register_reduce(Registry& registry);
void register_shape(Registry& registry);
void register_index(Registry& registry);
void register_norm(Registry& registry);
void register_quantize(Registry& registry);
void register_special(Registry& registry);
void register_image(Registry& registry);
void register_rnn(Registry& registry);
void register_signal(Registry& registry);
void register_flow(Registry& registry);
void register_text(Registry& registry);

}  // namespace anynpu::ops
