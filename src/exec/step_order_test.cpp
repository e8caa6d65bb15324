// SPDX-License-Identifier: Apache-2.0
#include "exec/step_order.h"

#include <gmock/gmock.h>

#include <array>

namespace anynpu::exec {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::array<std::byte, 64> memory;

TouchedRange reads(size_t at, size_t bytes = 8) { return {memory.data() + at, bytes, false}; }
TouchedRange writes(size_t at, size_t bytes = 8) { return {memory.data() + at, bytes, true}; }

TEST(StepOrder, ReadersOfOneTensorDoNotWaitForEachOther) {
  const auto after = order_of_steps({{writes(0)}, {reads(0), writes(8)}, {reads(0), writes(16)}});
  EXPECT_THAT(after, ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0)));
}

TEST(StepOrder, ATensorIsNotOverwrittenBeforeItsReadersAreDone) {
  const auto after = order_of_steps({{reads(0), writes(8)}, {writes(4)}});
  EXPECT_THAT(after, ElementsAre(IsEmpty(), ElementsAre(0)));
}

TEST(StepOrder, WhatOthersWaitForIsNotNamedAgain) {
  const auto after =
      order_of_steps({{writes(0)}, {reads(0), writes(8)}, {reads(0), reads(8), writes(16)}});
  EXPECT_THAT(after[2], ElementsAre(1));
}

TEST(StepOrder, EmptyRangesAndNeighboursDoNotCollide) {
  EXPECT_THAT(order_of_steps({{writes(0)}, {writes(8)}, {reads(4, 0)}}),
              ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

}  // namespace

}  // namespace anynpu::exec
