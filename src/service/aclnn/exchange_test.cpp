// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/exchange.h"

#include <gtest/gtest.h>

#include "service/collective/group_for_test.h"

namespace anynpu::service {
namespace {

using aclnn::ArgumentKind;

// aclnnMatmulAllReduce of matrices of one element.
class NnExchange : public TwoRanks {
 protected:
  static const NnOperator& product() {
    static const char* const names[] = {"x1",       "x2",       "bias",       "group",
                                        "reduceOp", "commTurn", "streamMode", "output"};
    static const NnOperator op{{"aclnnMatmulAllReduce", names, "iiiiiiio"},
                               aclnn::find_row("aclnnMatmulAllReduce")};
    return op;
  }
  void SetUp() override {
    TwoRanks::SetUp();
    ASSERT_TRUE(communicator_name(groups[0], name).ok());
  }
  Result<Prepared> prepare(int rank, const char* group) {
    EXPECT_TRUE(runtime().set_device(rank).ok());
    const auto tensor = [&](int place) {
      const int64_t one[] = {1, 1};
      return *create_nn_tensor({one, 2, 0, nullptr, 0, 2, one, 2, floats(rank) + place});
    };
    const RawArgument raw[] = {{ArgumentKind::tensor, tensor(0)},
                               {ArgumentKind::tensor, tensor(1)},
                               {ArgumentKind::tensor, 0},
                               RawArgument(group),
                               RawArgument("sum"),
                               RawArgument(int64_t{0}),
                               RawArgument(int64_t{1}),
                               {ArgumentKind::tensor, tensor(2)}};
    return prepare_nn(product(), raw);
  }

  char name[128] = {};
};

TEST_F(NnExchange, RanksAddTheirProducts) {
  for (int rank = 0; rank < 2; ++rank) {
    floats(rank)[0] = static_cast<float>(rank) + 3;
    floats(rank)[1] = 10;
    const auto prepared = prepare(rank, name);
    ASSERT_TRUE(prepared.ok()) << prepared.status().to_string();
    const Status run = execute_nn(product(), {floats(rank) + 64, kBytes - 256}, prepared->executor,
                                  streams[static_cast<size_t>(rank)]);
    ASSERT_TRUE(run.ok()) << run.to_string();
  }
  for (int rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(wait(rank).ok());
    EXPECT_EQ(floats(rank)[2], 70);
  }
}

TEST_F(NnExchange, AGroupWithoutThisDeviceIsRefusedInPhaseOne) {
  const auto prepared = prepare(0, "nobody");
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.status().to_string().find("no communicator is called 'nobody' on device 0"),
            std::string::npos)
      << prepared.status().to_string();
}

}  // namespace
}  // namespace anynpu::service
