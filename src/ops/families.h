// SPDX-License-Identifier: Apache-2.0
// The list of operator families, one folder and one namespace each. A family adds its schemas and,
// for each of its operators, the kernels in order of preference; no operator has kernels in two
// families.
#pragma once

namespace anynpu::ops {

class Registry;

void register_aipp(Registry& registry);
namespace attention {
void register_family(Registry& registry);
}
namespace control_flow {
void register_family(Registry& registry);
}
namespace conv {
void register_family(Registry& registry);
}
namespace detection {
void register_family(Registry& registry);
}
namespace einsum {
void register_family(Registry& registry);
}
namespace elementwise {
void register_family(Registry& registry);
}
namespace gemm {
void register_family(Registry& registry);
}
namespace image_decoder {
void register_family(Registry& registry);
}
namespace index {
void register_family(Registry& registry);
}
namespace linalg {
void register_family(Registry& registry);
}
namespace loss {
void register_family(Registry& registry);
}
namespace norm {
void register_family(Registry& registry);
}
namespace pool {
void register_family(Registry& registry);
}
namespace quantize {
void register_family(Registry& registry);
}
namespace random {
void register_family(Registry& registry);
}
namespace reduce {
void register_family(Registry& registry);
}
namespace resize {
void register_family(Registry& registry);
}
namespace rnn {
void register_family(Registry& registry);
}
namespace shape {
void register_family(Registry& registry);
}
namespace signal {
void register_family(Registry& registry);
}
namespace softmax {
void register_family(Registry& registry);
}
namespace text {
void register_family(Registry& registry);
}
namespace training {
void register_family(Registry& registry);
}

}  // namespace anynpu::ops
