// SPDX-License-Identifier: Apache-2.0
#include "base/failure_lines.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace anynpu {
namespace {

// In a process of its own, because what was shown counts for the whole run.
std::string shown_by(void (*work)()) {
  testing::internal::CaptureStderr();
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return testing::internal::GetCapturedStderr();
}

FailedCall call(std::string_view message, bool answer = false) {
  return {"aclrtMemcpy", "107000", "ACL_ERROR_RT_PARAM_INVALID", message, answer};
}

TEST(FailureLines, ALineHasFunctionNumberNameMessageAndPlace) {
  EXPECT_EQ(
      shown_by([] {
        set_caller_place([](char* text, size_t) -> size_t {
          std::memcpy(text, "app.py:12", 9);
          return 9;
        });
        show_failure(call("src is 0\n  in task 3"));
      }),
      "anynpu: aclrtMemcpy failed with 107000 (ACL_ERROR_RT_PARAM_INVALID): src is 0; in task "
      "3 (app.py:12)\n");
}

TEST(FailureLines, TheSameCauseIsToldOnceWhateverNumbersAreInIt) {
  EXPECT_EQ(shown_by([] {
              show_failure(call("src 0x7f12ab has 17 bytes"));
              show_failure(call("src 0x55 has 9 bytes"));
              show_failure(call("dst 0x55 has 9 bytes"));
            }),
            "anynpu: aclrtMemcpy failed with 107000 (ACL_ERROR_RT_PARAM_INVALID): src 0x7f12ab has "
            "17 bytes\n"
            "anynpu: aclrtMemcpy failed with 107000 (ACL_ERROR_RT_PARAM_INVALID): dst 0x55 has 9 "
            "bytes\n");
}

TEST(FailureLines, ThereAreAtMostTwentyAndTheLastLineSaysSo) {
  const std::string text = shown_by([] {
    for (int i = 0; i < 40; ++i) show_failure(call(std::string(static_cast<size_t>(i) + 1, 'g')));
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 21);
  EXPECT_NE(text.find("20 failures were shown; ANYNPU_ERRORS=all"), std::string::npos);
}

TEST(FailureLines, AnswersAreSilentUnlessAllIsChosen) {
  EXPECT_EQ(shown_by([] { show_failure(call("nothing yet", true)); }), "");
  const std::string text = shown_by([] {
    choose_failure_lines(FailureLines::all);
    for (int i = 0; i < 30; ++i) show_failure(call("nothing yet", true));
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 30);
}

TEST(FailureLines, OffIsSilent) {
  EXPECT_EQ(shown_by([] {
              choose_failure_lines(FailureLines::off);
              show_failure(call("x"));
            }),
            "");
}

TEST(FailureLines, TheVariableGoesBeforeTheFile) {
  EXPECT_EQ(shown_by([] {
              setenv("ANYNPU_ERRORS", "off", 1);
              choose_failure_lines(FailureLines::all);
              show_failure(call("x"));
            }),
            "");
  EXPECT_NE(shown_by([] {
              setenv("ANYNPU_ERRORS", "perhaps", 1);  // no word of it: as if unset
              show_failure(call("x"));
            }),
            "");
}

TEST(FailureLines, WordsAreRead) {
  EXPECT_EQ(failure_lines_named("off"), FailureLines::off);
  EXPECT_EQ(failure_lines_named("all"), FailureLines::all);
  EXPECT_EQ(failure_lines_named("first"), FailureLines::first);
  EXPECT_EQ(failure_lines_named(""), std::nullopt);
}

}  // namespace
}  // namespace anynpu
