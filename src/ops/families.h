// SPDX-License-Identifier: Apache-2.0
// The list of operator families, a folder each. A family adds its schemas and, for each of its
// operators, the kernels in order of preference; no operator has kernels in two families.
#pragma once

namespace anynpu::ops {

class Registry;

void register_aipp(Registry& registry);
void register_attention(Registry& registry);
void register_control_flow(Registry& registry);
void register_conv(Registry& registry);
void register_detection(Registry& registry);
void register_einsum(Registry& registry);
void register_elementwise(Registry& registry);
void register_gemm(Registry& registry);
void register_image_decoder(Registry& registry);
void register_index(Registry& registry);
void register_linalg(Registry& registry);
void register_loss(Registry& registry);
void register_norm(Registry& registry);
void register_pool(Registry& registry);
void register_quantize(Registry& registry);
void register_random(Registry& registry);
void register_reduce(Registry& registry);
void register_resize(Registry& registry);
void register_rnn(Registry& registry);
void register_shape(Registry& registry);
void register_signal(Registry& registry);
void register_softmax(Registry& registry);
void register_text(Registry& registry);
void register_training(Registry& registry);
void register_optional(Registry& registry);  // of control_flow

}  // namespace anynpu::ops
