// SPDX-License-Identifier: Apache-2.0
// Which clusters a program sees as devices 0, 1, ...: those of STC_SET_DEVICES, else all four in
// order. A comma-separated list selects and orders clusters and ends at its first invalid entry; a
// single number selects that cluster and all after it; an empty value hides all. A pure function.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace anynpu::npc {

std::vector<int> chosen_clusters(const std::optional<std::string>& set_devices, int clusters);

}  // namespace anynpu::npc
