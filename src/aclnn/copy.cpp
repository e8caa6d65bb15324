// SPDX-License-Identifier: Apache-2.0
// Copies and casts.
#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

// One element may have more axes than the target.
void copy(Recipe& r) {
  const Value src = r.in("src");
  const bool one = r.tensor("src").count() == 1 && r.tensor("selfRef").count() == 1;
  r.out("selfRef", one ? r.reshape(src, r.shape("selfRef")) : src);
}

// Of formats in blocks there is none here: arguments refuse them.
void change_format(Recipe& r) { r.out("dstTensor", r.in("srcTensor")); }

void cast(Recipe& r) { r.out("out", r.in("self")); }

const Row kRows[] = {
    {"aclnnInplaceCopy", copy, "", true},
    {"aclnnCast", cast, "", true},
    {"aclnnNpuFormatCast", change_format},
};

}  // namespace

std::span<const Row> copy_rows() { return kRows; }

}  // namespace anynpu::aclnn
