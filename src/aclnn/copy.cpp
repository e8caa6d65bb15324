// SPDX-License-Identifier: Apache-2.0
// Copies and casts.
#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

void copy(Recipe& r) { r.out("selfRef", r.in("src")); }

void cast(Recipe& r) { r.out("out", r.in("self")); }

const Row kRows[] = {
    {"aclnnInplaceCopy", copy, "", true},
    {"aclnnCast", cast, "", true},
};

}  // namespace

std::span<const Row> copy_rows() { return kRows; }

}  // namespace anynpu::aclnn
