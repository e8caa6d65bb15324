// SPDX-License-Identifier: Apache-2.0
// For tests of the work of the picture unit: two pictures of 32x16, the input of 50s.
#pragma once

#include "service/media/media_for_test.h"
#include "service/media/vpc_filters.h"

namespace anynpu::media {

class VpcWorkTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    pair = {picture(pixel::kYuv400, 32, 16, 50), picture(pixel::kYuv400, 32, 16, 0)};
  }
  // Puts one piece of work into a job and runs it.
  template <typename Add>
  Status run(Add&& add) {
    VpcJob job;
    ANYNPU_TRY(add(job));
    job.run();
    return {};
  }
  template <typename Add>
  Code code_of(Add&& add) {
    return run(add).code();
  }

  PicturePair pair;
};

}  // namespace anynpu::media
