// SPDX-License-Identifier: Apache-2.0
// DFT and STFT, window functions, MelWeightMatrix and TfIdfVectorizer, one register function per
// file.
#pragma once

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::signal {

void register_fourier(Registry& registry);
void register_windows(Registry& registry);
void register_mel(Registry& registry);
void register_tf_idf(Registry& registry);

}  // namespace anynpu::ops::signal
