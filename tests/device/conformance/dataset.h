// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <utility>

#include "device_case.h"

namespace conformance {

// A dataset over blocks that live longer.
class Dataset {
 public:
  explicit Dataset(std::initializer_list<std::pair<void*, size_t>> buffers)
      : dataset_(aclmdlCreateDataset()) {
    for (const auto& [address, bytes] : buffers) {
      EXPECT_ACL(aclmdlAddDatasetBuffer(dataset_, aclCreateDataBuffer(address, bytes)));
    }
  }
  ~Dataset() {
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset_); ++i) {
      EXPECT_ACL(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(dataset_, i)));
    }
    EXPECT_ACL(aclmdlDestroyDataset(dataset_));
  }
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  aclmdlDataset* get() const { return dataset_; }

 private:
  aclmdlDataset* dataset_;
};

}  // namespace conformance
