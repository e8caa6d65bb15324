// SPDX-License-Identifier: Apache-2.0
// A stage of an inference as a range in profiles, from construction to destruction; costs one call
// if ranges are not recorded.
#pragma once

#include <cstdint>

extern "C" {
int anynpu_prof_marks_on(void);
uint32_t anynpu_prof_range_start(const char* text, const char* domain);
int anynpu_prof_range_stop(uint32_t range);
}

namespace anynpu::aclruntime {

class Stage {
 public:
  explicit Stage(const char* name)
      : range_(anynpu_prof_marks_on() ? anynpu_prof_range_start(name, "ais_bench") : 0) {}
  ~Stage() {
    if (range_) anynpu_prof_range_stop(range_);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

 private:
  const uint32_t range_;
};

}  // namespace anynpu::aclruntime
