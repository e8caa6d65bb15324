// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/code_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "npc/image.h"

namespace anynpu::npc {
namespace {

namespace fs = std::filesystem;

class CodeCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* set = std::getenv("ASCEND_CACHE_PATH")) before_ = set;
    folder_ = testing::TempDir() + "code_cache_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    setenv("ASCEND_CACHE_PATH", folder_.c_str(), 1);
    image_.object.resize(100, std::byte{7});
  }
  void TearDown() override {
    before_.empty() ? unsetenv("ASCEND_CACHE_PATH")
                    : setenv("ASCEND_CACHE_PATH", before_.c_str(), 1);
    fs::remove_all(folder_);
  }
  CodeCache cache() const { return {image_, "test"}; }

  std::string folder_, before_;
  Image image_;
};

TEST_F(CodeCacheTest, GivesBackWhatItKeepsInAFolderOfTheUsersOwn) {
  EXPECT_FALSE(cache().find());
  cache().keep("code");
  EXPECT_EQ(cache().find(), "code");
  struct stat info {};
  ASSERT_EQ(stat((folder_ + "/npc").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(CodeCacheTest, AFolderThatOthersCanEnterIsNotBelieved) {
  cache().keep("code");
  ASSERT_EQ(chmod((folder_ + "/npc").c_str(), 0777), 0);
  EXPECT_FALSE(cache().find());
  cache().keep("code");  // others may have written there: it stays as it is
  EXPECT_FALSE(cache().find());
  ASSERT_EQ(chmod((folder_ + "/npc").c_str(), 0755), 0);
  EXPECT_FALSE(cache().find());
  cache().keep("code");  // nobody else could write: it is closed and used
  EXPECT_EQ(cache().find(), "code");
}

TEST_F(CodeCacheTest, AFileThatOthersCanWriteIsNotRun) {
  cache().keep("code");
  const std::string path = cache().path();
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_FALSE(cache().find());
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_TRUE(cache().find());
  fs::rename(path, path + ".real");
  fs::create_symlink(path + ".real", path);
  EXPECT_FALSE(cache().find());
}

// The forged file of the attack: right in every byte, and of another user.
TEST_F(CodeCacheTest, AFileOfAnotherUserIsNotRun) {
  cache().keep("code");
  if (geteuid() != 0) return;  // only root gives files away
  ASSERT_EQ(chown(cache().path().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache().find());
  ASSERT_EQ(chown(cache().path().c_str(), 0, 0), 0);
  ASSERT_EQ(chown((folder_ + "/npc").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache().find());
}

}  // namespace
}  // namespace anynpu::npc
