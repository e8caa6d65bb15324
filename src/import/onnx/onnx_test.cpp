// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/protowire.h"
#include "import/onnx/tensor_proto.h"

namespace anynpu::onnx {
namespace {

namespace fs = std::filesystem;

WireWriter value_info(const std::string& name, const std::vector<std::string>& dims, int type = 1) {
  WireWriter shape;
  for (const std::string& dim : dims) {
    WireWriter d;
    if (isalpha(dim[0])) {
      d.text(2, dim);
    } else {
      d.integer(1, std::stoll(dim));
    }
    shape.message(1, d);
  }
  WireWriter tensor, kind, info;
  tensor.integer(1, type);
  tensor.message(2, shape);
  kind.message(1, tensor);
  info.text(1, name);
  info.message(2, kind);
  return info;
}

WireWriter node(const std::string& op, const std::string& name, std::vector<std::string> inputs,
                std::vector<std::string> outputs, const std::string& domain = "") {
  WireWriter out;
  for (const auto& i : inputs) out.text(1, i);
  for (const auto& o : outputs) out.text(2, o);
  out.text(3, name);
  out.text(4, op);
  if (!domain.empty()) out.text(7, domain);
  return out;
}

WireWriter raw_tensor(const std::string& name, std::vector<float> data) {
  WireWriter tensor;
  tensor.integer(1, static_cast<int64_t>(data.size()));
  tensor.integer(2, 1);
  tensor.text(8, name);
  tensor.bytes(9, std::as_bytes(std::span(data)));
  return tensor;
}

std::string model_of(const WireWriter& graph) {
  WireWriter opset, model;
  opset.text(1, "");
  opset.integer(2, 13);
  model.integer(1, 8);
  model.text(2, "maker");
  model.text(3, "1.0");
  model.message(7, graph);
  model.message(8, opset);
  return model.data();
}

// 0, 7, 0: one element of three.
WireWriter sparse_tensor(const std::string& name) {
  WireWriter indices, sparse;
  indices.integer(1, 1);
  indices.integer(2, 7);
  indices.packed(7, std::vector<int64_t>{1});
  sparse.message(1, raw_tensor(name, {7}));
  sparse.message(2, indices);
  sparse.integer(3, 3);
  return sparse;
}

// x + w + s -> relu, with w among the inputs as old files have it.
std::string sample() {
  WireWriter graph;
  graph.message(1, node("Add", "", {"x", "w"}, {"sum"}));
  graph.message(1, node("Add", "", {"sum", "s"}, {"all"}));
  graph.message(1, node("Relu", "", {"all"}, {"y"}));
  graph.text(2, "sample");
  graph.message(5, raw_tensor("w", {1, 2, 3}));
  graph.message(15, sparse_tensor("s"));
  graph.message(11, value_info("x", {"N", "3"}));
  graph.message(11, value_info("w", {"3"}));
  graph.message(12, value_info("y", {"N", "3"}));
  return model_of(graph);
}

Result<Model> import(const std::string& bytes, const std::string& folder = {}) {
  auto owner = std::make_shared<const std::string>(bytes);
  return import_memory(std::as_bytes(std::span(*owner)), owner, folder);
}

TEST(OnnxImport, GraphInputsAreTheInputsWithoutInitializers) {
  auto model = import(sample());
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->producer, "maker 1.0");
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(graph::print(model->graph),
            "graph sample\n"
            "  input  %x: float32[?x3]\n"
            "  const  %w: float32[3]\n"
            "  const  %s: float32[3]\n"
            "  %sum: undefined[*] = Add \"Add_0\" (%x, %w)\n"
            "  %all: undefined[*] = Add \"Add_1\" (%sum, %s)\n"
            "  %y: float32[?x3] = Relu \"Relu_2\" (%all)\n"
            "  output %y: float32[?x3]\n");
  EXPECT_EQ(model->graph.nodes[0].opset, 13);
}

TEST(OnnxImport, NodeNamesBecomeUnique) {
  WireWriter graph;
  graph.message(1, node("Relu", "same", {"x"}, {"a"}));
  graph.message(1, node("Relu", "same", {"a"}, {"b"}));
  graph.message(11, value_info("x", {"3"}));
  graph.message(12, value_info("b", {"3"}));
  auto model = import(model_of(graph));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->graph.nodes[0].name, "same");
  EXPECT_EQ(model->graph.nodes[1].name, "same_1");
}

TEST(OnnxImport, ConstantNodesBecomeConstants) {
  WireWriter attr, constant, graph;
  attr.text(1, "value_floats");
  attr.packed(7, std::vector<float>{1, 2, 3});
  attr.integer(20, 6);
  constant = node("Constant", "c", {}, {"w"});
  constant.message(5, attr);
  graph.message(1, constant);
  graph.message(1, node("Add", "add", {"x", "w"}, {"y"}));
  graph.message(11, value_info("x", {"3"}));
  graph.message(12, value_info("y", {"3"}));
  auto model = import(model_of(graph));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_EQ(model->graph.nodes.size(), 1u);
  const graph::Value& w = model->graph.values[static_cast<size_t>(model->graph.nodes[0].inputs[1])];
  ASSERT_TRUE(w.constant);
  EXPECT_EQ(w.shape, (Shape{3}));
  EXPECT_EQ(w.constant->bytes.size(), 12u);
}

TEST(OnnxImport, AllUnsupportedOperatorsComeInOneMessage) {
  WireWriter inner_graph, branch, graph;
  inner_graph.message(1, node("NoSuchInner", "in", {}, {"z"}));
  branch.text(1, "then_branch");
  branch.message(6, inner_graph);
  WireWriter conditional = node("NoSuchIf", "cond", {"a"}, {"b"});
  conditional.message(5, branch);
  graph.message(1, node("NoSuchOp", "first", {"x"}, {"a"}));
  graph.message(1, conditional);
  graph.message(1, node("Relu", "third", {"b"}, {"c"}, "my.domain"));
  graph.message(11, value_info("x", {"3"}));
  graph.message(12, value_info("c", {"3"}));
  const Status status = import(model_of(graph)).status();
  EXPECT_EQ(status.code(), Code::unsupported_op);
  for (const char* part :
       {"4 operators", "NoSuchOp 'first' (domain 'ai.onnx', opset 13)", "NoSuchIf 'cond'",
        "NoSuchInner 'in'", "Relu 'third' (domain 'my.domain'"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << part << "\n" << status.message();
  }
}

Result<Tensor> read(const WireWriter& tensor, const std::string& folder = {}) {
  WireWriter outer;
  outer.message(1, tensor);
  auto owner = std::make_shared<const std::string>(outer.data());
  WireReader reader(std::as_bytes(std::span(*owner)));
  WireField field;
  EXPECT_TRUE(reader.next(field));
  Source source{owner, folder, {}};
  return read_tensor(field, source);
}

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  std::vector<T> list(tensor.data->bytes.size() / sizeof(T));
  std::memcpy(list.data(), tensor.data->bytes.data(), list.size() * sizeof(T));
  return list;
}

TEST(OnnxTensor, EveryTypedListIsRead) {
  struct Case {
    int type;
    uint32_t field;
    DType dtype;
    size_t bytes;
  };
  // Two elements each, stored in the list that onnx.proto names for the type.
  for (const Case& c :
       {Case{6, 5, DType::i32, 8}, Case{3, 5, DType::i8, 2}, Case{2, 5, DType::u8, 2},
        Case{5, 5, DType::i16, 4}, Case{4, 5, DType::u16, 4}, Case{9, 5, DType::boolean, 2},
        Case{10, 5, DType::f16, 4}, Case{16, 5, DType::bf16, 4}, Case{7, 7, DType::i64, 16},
        Case{12, 11, DType::u32, 8}, Case{13, 11, DType::u64, 16}}) {
    WireWriter tensor;
    tensor.integer(1, 2);
    tensor.integer(2, c.type);
    tensor.packed(c.field, std::vector<int64_t>{1, 0});
    auto result = read(tensor);
    ASSERT_TRUE(result.ok()) << c.type << " " << result.status().to_string();
    EXPECT_EQ(result->dtype, c.dtype);
    ASSERT_EQ(result->data->bytes.size(), c.bytes) << c.type;
    EXPECT_EQ(result->data->bytes[0], std::byte{1});
  }
  WireWriter floats;
  floats.integer(1, 2);
  floats.integer(2, 1);
  floats.packed(4, std::vector<float>{0.5f, -1.0f});
  EXPECT_EQ(elements<float>(*read(floats)), (std::vector<float>{0.5f, -1.0f}));
  WireWriter doubles;
  doubles.integer(1, 1);
  doubles.integer(2, 11);
  doubles.real(10, 2.5);
  EXPECT_EQ(elements<double>(*read(doubles)), (std::vector<double>{2.5}));
  WireWriter complex;
  complex.integer(1, 1);
  complex.integer(2, 14);
  complex.packed(4, std::vector<float>{1.0f, 2.0f});
  EXPECT_EQ(read(complex)->dtype, DType::c64);
}

TEST(OnnxTensor, FourBitIntegersStayPacked) {
  WireWriter tensor;
  tensor.integer(1, 3);
  tensor.integer(2, 22);
  tensor.text(9, "\x21\x03");
  auto result = read(tensor);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ(result->dtype, DType::i4);
  EXPECT_EQ(result->data->bytes.size(), 2u);
}

TEST(OnnxTensor, StringsHaveHeadsAndCharacters) {
  WireWriter tensor;
  tensor.integer(1, 2);
  tensor.integer(2, 8);
  tensor.text(6, "ab");
  tensor.text(6, "c");
  auto result = read(tensor);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ(result->data->bytes.size(), 2u * 16 + 3);
  EXPECT_EQ(elements<uint64_t>(*result)[3], 1u);
}

TEST(OnnxTensor, WrongSizesNegativeAndHugeDimsAndUnknownTypesAreRefused) {
  const auto with = [](std::vector<int64_t> dims, int type, const std::string& raw) {
    WireWriter tensor;
    tensor.packed(1, dims);
    tensor.integer(2, type);
    tensor.text(8, "bad");
    tensor.text(9, raw);
    return read(tensor).status();
  };
  EXPECT_EQ(with({2}, 1, "1234567").code(), Code::corrupt_model);
  EXPECT_EQ(with({-1}, 1, "").code(), Code::corrupt_model);
  EXPECT_FALSE(with({int64_t{1} << 40, int64_t{1} << 40}, 1, "").ok());
  EXPECT_EQ(with({int64_t{1} << 60}, 1, "").code(), Code::corrupt_model);
  EXPECT_EQ(with({1}, 18, "1").code(), Code::unsupported_dtype);
  EXPECT_NE(
      with({2}, 1, "1234567").message().find("'bad' (float32 2) has 7 bytes of data, expected 8"),
      std::string::npos);
  EXPECT_TRUE(with({0, 5}, 1, "").ok());
}

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

TEST(OnnxImport, ExternalDataOfAModelInMemoryIsRefused) {
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

TEST(OnnxImport, BrokenModelsAreNamed) {
  WireWriter empty;
  EXPECT_EQ(import(empty.data()).status().code(), Code::parse_error);
  WireWriter no_opset;
  no_opset.message(7, WireWriter());
  EXPECT_NE(import(no_opset.data()).status().message().find("opset_import"), std::string::npos);
  WireWriter no_output;
  EXPECT_NE(import(model_of(no_output)).status().message().find("no outputs"), std::string::npos);
  WireWriter dangling;
  dangling.message(1, node("Relu", "r", {"nothing"}, {"y"}));
  dangling.message(12, value_info("y", {"1"}));
  EXPECT_NE(import(model_of(dangling)).status().message().find("'nothing'"), std::string::npos);
  EXPECT_EQ(import_file("/nowhere/m.onnx").status().code(), Code::file_not_found);
}

TEST(OnnxImport, EveryTruncationEndsInAStatus) {
  const std::string whole = sample();
  for (size_t size = 0; size < whole.size(); ++size) {
    // Cutting off whole trailing fields leaves a valid protobuf without opset: also refused.
    EXPECT_FALSE(import(whole.substr(0, size)).ok()) << size;
  }
}

TEST(OnnxImport, FlippedBitsNeverCrash) {
  const std::string whole = sample();
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    (void)import(damaged);
  }
}

}  // namespace
}  // namespace anynpu::onnx
