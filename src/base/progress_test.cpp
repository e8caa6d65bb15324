// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace anynpu {
namespace {

uint64_t test_time = 0;
uint64_t time_of_test() { return test_time; }

// What a line writes into a file that is no terminal.
class LineInAFile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(ends_), 0);
    test_time = 1'000'000'000;
  }
  void TearDown() override {
    for (const int end : ends_) close(end);
  }
  std::string written() {
    write(ends_[1], "|", 1);  // so that the read below does not wait
    char text[1000];
    const ssize_t size = read(ends_[0], text, sizeof text);
    return std::string(text, static_cast<size_t>(size) - 1);
  }
  int ends_[2] = {};
};

TEST_F(LineInAFile, IsQuietForTwoSecondsAndThenSaysWhatIsDoneHowFastAndWhatIsLeft) {
  ProgressLine line(ends_[1], false, time_of_test);
  const ProgressWatch watch([&](const Progress& p) { line.show(p); });
  Progress work("compiling", 100, "nodes");
  work.step(10);
  test_time += 1'900'000'000;
  work.step(9);
  EXPECT_EQ(written(), "");
  test_time += 100'000'000;
  work.step();
  EXPECT_EQ(written(), "compiling: 20 of 100 nodes, 10 a second, 8 s left\n");
  test_time += 29'000'000'000;
  work.step();
  EXPECT_EQ(written(), "") << "a log of hours has a line every half minute";
  test_time += 1'000'000'000;
  work.step();
  EXPECT_EQ(written(), "compiling: 22 of 100 nodes, 0.69 a second, 1 min 53 s left\n");
}

TEST_F(LineInAFile, IsLeftOutWhereOnlyATerminalCounts) {
  ProgressLine line(ends_[1], true, time_of_test);
  const ProgressWatch watch([&](const Progress& p) { line.show(p); });
  Progress work("translating", 100, "steps");
  test_time += 5'000'000'000;
  work.step();
  EXPECT_EQ(written(), "");
}

TEST(ProgressOfWork, OfNestedPartsTheOutermostCounts) {
  std::vector<std::string> told;
  const ProgressWatch watch([&](const Progress& p) { told.push_back(std::string(p.part())); });
  {
    Progress outer("outer", 2, "nodes");
    Progress inner("inner", 9, "nodes");
    inner.step();
    outer.step();
  }
  Progress next("next", 1, "files");
  next.step();
  EXPECT_EQ(told, (std::vector<std::string>{"outer", "next"}));
}

TEST(ProgressOfWork, WithoutAWatchNothingHappens) {
  Progress alone("alone", 1, "files");
  alone.step();
  EXPECT_EQ(alone.done(), 1u);
}

}  // namespace
}  // namespace anynpu
