// SPDX-License-Identifier: Apache-2.0
// The container format of models and bundles: a header, a table of sections, and the sections one
// after the other. Reading it checks every byte that is not inside a section.
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

// The name of a container in messages, and the advice for a bad one.
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

// Fails for the vendor's files, for the other kind of container, and for anything else.
Status check_start(Bytes bytes, const Form& form);
// The sections in the order of the table, unread: their checksums are the caller's to check.
Result<std::vector<PlacedSection>> read_frame(Bytes bytes, const Form& form);

// A copy that starts on a boundary of kAlignment.
Result<OwnedBytes> aligned_copy(Bytes bytes);

}  // namespace anynpu::om
