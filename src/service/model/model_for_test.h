// SPDX-License-Identifier: Apache-2.0
// A small model, a device and datasets for tests of services.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "device/runtime.h"
#include "om/container.h"
#include "service/finalize.h"
#include "service/model/dataset.h"
#include "service/model/load.h"
#include "tensor/data_buffer.h"

namespace anynpu::service {

// y = Relu(x), floats of this shape; an extent of -1 is dynamic.
inline om::Model compile_relu(const Shape& shape = {4}, const compile::Options& options = {}) {
  graph::Graph graph;
  graph.name = "relu";
  for (const char* name : {"x", "y"}) {
    graph::Value value;
    value.name = name;
    value.dtype = DType::f32;
    value.shape = shape;
    value.has_shape = true;
    graph.add_value(std::move(value));
  }
  graph::Node node;
  node.op = node.name = "Relu";
  node.opset = 16;
  node.inputs = {0};
  node.outputs = {1};
  graph.nodes = {node};
  graph.inputs = {0};
  graph.outputs = {1};
  auto compiled = compile::compile(std::move(graph), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().to_string();
  return std::move(*compiled);
}

inline uint32_t load_for_test(const om::Model& model) {
  const auto bytes = om::to_bytes(model);
  EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
  const auto id = load_model_memory(bytes->data(), bytes->size());
  EXPECT_TRUE(id.ok()) << id.status().to_string();
  return id.ok() ? *id : 0;
}

// Handles are removed when it ends.
template <typename T>
class HandleForTest {
 public:
  explicit HandleForTest(std::shared_ptr<T> object)
      : object_(object), handle_(HandleTable::instance().insert(std::move(object))) {}
  HandleForTest(const HandleForTest&) = delete;
  HandleForTest& operator=(const HandleForTest&) = delete;
  ~HandleForTest() { HandleTable::instance().remove<T>(handle_); }
  operator Handle() const { return handle_; }  // NOLINT: as programs pass them
  T* operator->() const { return object_.get(); }

 private:
  std::shared_ptr<T> object_;
  Handle handle_;
};

// A dataset of one buffer: memory of the test.
class OneBuffer {
 public:
  OneBuffer(void* data, size_t bytes)
      : buffer_(std::make_shared<DataBuffer>(DataBuffer{data, bytes})),
        dataset_(std::make_shared<Dataset>()) {
    EXPECT_TRUE(dataset_->add(buffer_).ok());
  }
  operator Handle() const { return dataset_; }  // NOLINT: as programs pass them
  Dataset* operator->() const { return dataset_.operator->(); }

 private:
  HandleForTest<DataBuffer> buffer_;
  HandleForTest<Dataset> dataset_;
};

class ServiceTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(device::Runtime::instance().set_device(0).ok()); }
  void TearDown() override {
    run_finalizers();
    device::Runtime::instance().reset_all();
  }
};

}  // namespace anynpu::service
