// SPDX-License-Identifier: Apache-2.0
// Opens offline models: those of AnyNPU, and those of the vendor's atc, whose graph is rebuilt from
// the description in the file if all of its operators and constants are supported.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "om/container.h"

namespace anynpu::compile {

// Like om::read_file, om::read_copy and om::read_meta. A vendor file that cannot be rebuilt gives
// version_mismatch; the message describes it, lists all obstacles and shows the atc command that
// makes a file that runs here. If it was rebuilt, a line in the log and on standard error says
// so.
Result<om::Model> open_file(const std::string& path, const om::WeightSource& weights = {});
Result<om::Model> open_copy(std::span<const std::byte> bytes, const om::WeightSource& weights = {});
Result<om::Meta> open_meta(std::span<const std::byte> bytes);

// The model of a vendor's file, without a line about it.
Result<om::Model> rebuild_vendor(std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner);

}  // namespace anynpu::compile
