// SPDX-License-Identifier: Apache-2.0
// Which clusters a program sees as devices 0, 1, ...: what STC_SET_DEVICES says, else all four in
// order. A comma list chooses and orders clusters and is cut at its first entry that is none; a
// single number is where the devices start; an empty value hides them all. A pure function.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace anynpu::npc {

std::vector<int> chosen_clusters(const std::optional<std::string>& set_devices, int clusters);

}  // namespace anynpu::npc
