// SPDX-License-Identifier: Apache-2.0
// For tests: a node over bytes and floats whose kernels all give the bytes of the reference.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "ops/op_case.h"

namespace anynpu::ops {

// Runs `text` (op_case.h) with all bytes drawn; returns how many kernels were compared.
inline int expect_same_bytes(const std::string& text, unsigned seed = 1) {
  auto op_case = OpCase::parse(text);
  EXPECT_TRUE(op_case.ok()) << text << ": " << op_case.status().to_string();
  if (!op_case.ok()) return 0;
  std::mt19937 random(seed);
  const auto context = op_case->context();
  EXPECT_TRUE(context.ok()) << text << ": " << context.status().to_string();
  if (!context.ok()) return 0;
  for (size_t i = 0; i < op_case->data().size(); ++i) {
    if (size_of(context->inputs[i].dtype) != 1) continue;
    for (std::byte& byte : op_case->data()[i]) byte = static_cast<std::byte>(random());
  }
  int compared = 0;
  const Status status = check_all_kernels(*op_case, &compared);
  EXPECT_TRUE(status.ok()) << text << ": " << status.to_string();
  return compared;
}

}  // namespace anynpu::ops
