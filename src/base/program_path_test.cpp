// SPDX-License-Identifier: Apache-2.0
#include "base/program_path.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace anynpu {
namespace {

TEST(ProgramPath, FindsTheScriptInACommandLineOfPython) {
  const auto script = [](std::initializer_list<const char*> arguments) {
    std::string line;
    for (const char* argument : arguments) line += std::string(argument) + '\0';
    return script_of(line);
  };
  EXPECT_EQ(script({"python3", "app/main.py", "-x"}), "app/main.py");
  EXPECT_EQ(script({"python3", "-u", "-W", "ignore", "-Xdev", "main.py"}), "main.py");
  EXPECT_EQ(script({"python3", "-c", "import acl"}), "");
  EXPECT_EQ(script({"python3", "-m", "pytest"}), "");
  EXPECT_EQ(script({"python3"}), "");
}

}  // namespace
}  // namespace anynpu
