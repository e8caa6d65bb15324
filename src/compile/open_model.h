// SPDX-License-Identifier: Apache-2.0
// Offline models as programs load them: those of AnyNPU, and those of the vendor's atc, whose graph
// is rebuilt from the description in the file when all of its operators and constants are there.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "om/container.h"

namespace anynpu::compile {

// As om::read_file, om::read_copy and om::read_meta. A file of the vendor that cannot be rebuilt
// gives version_mismatch with what it is, all that stands in the way, and the atc command that
// makes one that runs here; one that can says in a line of the log and of standard error that this
// was done.
Result<om::Model> open_file(const std::string& path, const om::WeightSource& weights = {});
Result<om::Model> open_copy(std::span<const std::byte> bytes, const om::WeightSource& weights = {});
Result<om::Meta> open_meta(std::span<const std::byte> bytes);

// The model of a vendor's file, without a line about it.
Result<om::Model> rebuild_vendor(std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner);

}  // namespace anynpu::compile
