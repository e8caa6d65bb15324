// SPDX-License-Identifier: Apache-2.0
// The frame that offline models and bundles of them share: a header, a table of sections, and the
// sections one after the other. Reading it checks every byte that is not inside a section.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "om/container.h"
#include "om/layout.h"

namespace anynpu::om {

using Bytes = std::span<const std::byte>;

// What a container is called in sentences, and what to do about a bad one.
struct Form {
  std::array<char, 8> magic;
  std::string_view noun;
  std::string_view remedy;
};

inline constexpr Form kModelForm = {kMagic, "offline model", "convert the model again with atc"};
inline constexpr Form kBundleForm = {kBundleMagic, "bundle of models",
                                     "make the bundle again with anynpu bundle"};

struct PlacedSection {
  Section entry;
  Bytes bytes;
};

// Fails for files of the vendor, of the other form, of no form, and for those without a header.
Status check_start(Bytes bytes, const Form& form);
// The sections in the order of the table, unread: their checksums are the caller's to check.
Result<std::vector<PlacedSection>> read_frame(Bytes bytes, const Form& form);

// A copy that starts on a boundary of kAlignment.
Result<OwnedBytes> aligned_copy(Bytes bytes);

}  // namespace anynpu::om
