// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

// The checker reads its variable when it is loaded: the program starts itself again with it.
int main(int argc, char** argv) {
  if (!std::getenv("ANYNPU_CHECK")) {
    std::string folder = testing::TempDir() + "anynpu-check-XXXXXX";
    if (!mkdtemp(folder.data())) return 1;
    setenv("ANYNPU_CHECK", folder.c_str(), 1);
    execv("/proc/self/exe", argv);
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
