// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

namespace fs = std::filesystem;

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("external_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "model" / "data");
    std::ofstream(folder_ / "model" / "data" / "w.bin", std::ios::binary) << "xxxx\x01\x02\x03\x04";
    std::ofstream(folder_ / "secret.bin", std::ios::binary) << "12345678";
    fs::create_symlink(folder_ / "secret.bin", folder_ / "model" / "link.bin");
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result<Tensor> load(const std::string& location, const std::string& offset = "4",
                      const std::string& length = "4") {
    WireWriter tensor;
    tensor.integer(1, 4);
    tensor.integer(2, 3);
    tensor.text(8, "w");
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"location", location}, {"offset", offset}, {"length", length}}) {
      WireWriter entry;
      entry.text(1, key);
      entry.text(2, value);
      tensor.message(13, entry);
    }
    tensor.integer(14, 1);
    return read(tensor, (folder_ / "model").string());
  }
  fs::path folder_;
};

TEST_F(ExternalData, IsReadFromTheModelsFolder) {
  auto tensor = load("data/w.bin");
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(elements<int8_t>(*tensor), (std::vector<int8_t>{1, 2, 3, 4}));
}

TEST_F(ExternalData, OutsideTheFolderIsRefused) {
  for (const std::string& path :
       {std::string("../secret.bin"), (folder_ / "secret.bin").string(), std::string("link.bin"),
        std::string("data/../../secret.bin"), std::string()}) {
    EXPECT_EQ(load(path).status().code(), Code::permission_denied) << path;
  }
}

TEST_F(ExternalData, MissingFilesAndBadRangesAreRefused) {
  EXPECT_EQ(load("data/none.bin").status().code(), Code::file_not_found);
  EXPECT_EQ(load("data/w.bin", "5").status().code(), Code::corrupt_model);
  EXPECT_EQ(load("data/w.bin", "18446744073709551615").status().code(), Code::corrupt_model);
  EXPECT_EQ(load("data/w.bin", "0", "8").status().code(), Code::corrupt_model);
  EXPECT_EQ(load("data/w.bin", "-1").status().code(), Code::corrupt_model);
}

TEST(OnnxModel, ExternalDataOfAModelInMemoryIsRefused) {
  WireWriter entry, tensor, graph;
  entry.text(1, "location");
  entry.text(2, "w.bin");
  tensor.integer(2, 1);
  tensor.text(8, "w");
  tensor.message(13, entry);
  tensor.integer(14, 1);
  graph.message(5, tensor);
  EXPECT_EQ(import(model_of(graph)).status().code(), Code::unsupported_feature);
}

}  // namespace
}  // namespace anynpu::onnx
