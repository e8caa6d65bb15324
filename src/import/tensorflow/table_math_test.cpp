// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfTable, NoNameStandsInBothTables) {
  std::set<std::string_view> names;
  for (const TfOp& op : tf_ops()) EXPECT_TRUE(names.insert(op.name).second) << op.name;
  EXPECT_TRUE(names.contains("Igamma"));
  EXPECT_TRUE(names.contains("Conv2D"));
}

}  // namespace
}  // namespace anynpu::tensorflow
