// SPDX-License-Identifier: Apache-2.0
// Bundles (docs/om_format.md): several offline models in one file, each whole and unchanged, so
// that a loaded one uses its weights where the bundle is mapped. Reading fails as for one model,
// naming the index of the bad one; nothing is read partially.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "om/model.h"

namespace anynpu::om {

// Reads every model, and its weight files where the bundle will look for them (the folder `weight`
// beside `path`), before the file is written: atomically, and not over one of its models.
Status write_bundle(const std::vector<std::string>& models, const std::string& path);

Result<std::vector<Model>> read_bundle_file(const std::string& path);
// Reads an aligned copy: the caller's memory may be freed afterwards.
Result<std::vector<Model>> read_bundle_copy(std::span<const std::byte> bytes);

// The description and size of one model of a bundle.
struct BundleEntry {
  Meta meta;
  size_t bytes = 0;
};
Result<std::vector<BundleEntry>> list_bundle(const std::string& path);

}  // namespace anynpu::om
