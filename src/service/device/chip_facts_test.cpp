// SPDX-License-Identifier: Apache-2.0
#include "service/device/chip_facts.h"

#include <gtest/gtest.h>

#include "base/soc.h"

namespace anynpu::service {
namespace {

TEST(ChipFacts, EveryChipHasItsArchitecture) {
  for (std::string_view name : soc_names()) EXPECT_NE(chip_architecture(name), 0) << name;
  EXPECT_EQ(chip_architecture("Ascend910B3"), 2201);
  EXPECT_EQ(chip_architecture("Ascend910_9391"), 2201);
  EXPECT_EQ(chip_architecture("Ascend310P3"), 2002);
  EXPECT_EQ(chip_architecture("Ascend910A"), 1001);
  EXPECT_EQ(chip_architecture("Ascend910B"), 1001) << "not one of 910B1 to 910B4";
  EXPECT_EQ(chip_architecture("Ascend310B1"), 3002);
  EXPECT_EQ(chip_architecture("Other"), 0);
  EXPECT_TRUE(has_hbm("Ascend910B3"));
  EXPECT_FALSE(has_hbm("Ascend310P3"));
  EXPECT_TRUE(fits_chip(soc_name()));
  EXPECT_FALSE(fits_chip("Other"));
}

TEST(ChipFacts, AllAreNumbersButTwoNames) {
  for (int fact = 0; fact <= 16; ++fact) {
    const std::string text = chip_fact(fact).value();
    ASSERT_FALSE(text.empty()) << fact;
    const bool number = text.find_first_not_of("0123456789") == std::string::npos;
    EXPECT_EQ(number, fact != 13 && fact != 14) << fact << ": " << text;
  }
  EXPECT_EQ(chip_fact(13).value(), soc_name());
  EXPECT_EQ(chip_fact(16).value(), "6");
  EXPECT_EQ(chip_fact(17).status().code(), Code::invalid_argument);
  EXPECT_EQ(chip_fact(-1).status().code(), Code::invalid_argument);
}

TEST(ChipFacts, WhatNoDocumentStatesIsAnError) {
  EXPECT_EQ(chip_fact(15, "Ascend950PR_9599").value(), "3510");
  for (const int unknown : {1, 6, 7, 8, 9, 10, 11, 12, 14}) {
    const Status status = chip_fact(unknown, "Ascend950PR_9599").status();
    EXPECT_EQ(status.code(), Code::unsupported_feature) << unknown;
    EXPECT_NE(status.message().find("Ascend950PR_9599 is not known"), std::string::npos);
  }
  EXPECT_EQ(chip_fact(1, "Ascend910B2").value(), std::to_string(192 * 1024));
  EXPECT_EQ(chip_fact(6, "Ascend910B2").value(), "1800");
  EXPECT_EQ(chip_fact(8, "Ascend310P3").value(), "0") << "it has no such memory";
  EXPECT_EQ(chip_fact(6, "Ascend615").status().code(), Code::unsupported_feature);
}

TEST(ChipFacts, CopiesReduceAndNothingElseIsAtomic) {
  EXPECT_EQ(*atomic_capability(30), 1u | 4 | 8 | 16 | 32);
  EXPECT_EQ(*atomic_capability(0), 0u);
  EXPECT_EQ(*atomic_capability(44), 0u);
  EXPECT_EQ(atomic_capability(13).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::service
