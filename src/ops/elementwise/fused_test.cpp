// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "graph/tensor_value.h"
#include "ops/registry.h"
#include "ops/test_node.h"

namespace anynpu::ops::elementwise {
namespace {

graph::ValueId add(graph::Graph& body, Shape shape, DType type = DType::f32) {
  return body.add_value(
      graph::tensor_value(format("v{}", body.values.size()), type, std::move(shape)));
}

graph::Node node_of(const char* op, std::vector<graph::ValueId> inputs, graph::ValueId output) {
  graph::Node node;
  node.op = op;
  node.name = op;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return node;
}

// (x + row) * scale, and whether that is greater than column.
struct Example {
  std::shared_ptr<graph::Graph> body = std::make_shared<graph::Graph>();
  graph::Node node;
  std::vector<Operand> operands;

  explicit Example(int64_t rows, int64_t columns) {
    const Shape shape{rows, columns};
    const auto x = add(*body, shape), row = add(*body, {columns}), scale = add(*body, {}),
               column = add(*body, {rows, 1});
    const auto sum = add(*body, shape), product = add(*body, shape),
               greater = add(*body, shape, DType::boolean);
    body->inputs = {x, row, scale, column};
    body->outputs = {product, greater};
    body->nodes = {node_of("Add", {x, row}, sum), node_of("Mul", {sum, scale}, product),
                   node_of("Greater", {product, column}, greater)};
    node = node_of("FusedElementwise", {0, 1, 2, 3}, 4);
    node.domain = "anynpu";
    node.outputs = {4, 5};
    node.attrs.emplace("body", std::shared_ptr<const graph::Graph>(body));
    for (graph::ValueId id : body->inputs) operands.push_back(Operand::of(*body, id));
  }
};

TEST(FusedElementwise, RunsItsBodyOverTiles) {
  // Less than a tile, whole tiles, and a rest.
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{3, 5}, {4, 1024}, {37, 133}}) {
    Example e(rows, columns);
    auto context = infer(e.node, e.operands);
    ASSERT_TRUE(context.ok()) << context.status().to_string();
    auto def = choose_kernel(*context);
    ASSERT_TRUE(def.ok());
    auto kernel = (*def)->create(*context);
    ASSERT_TRUE(kernel.ok());
    auto plan = (*kernel)->plan(*context);
    ASSERT_TRUE(plan.ok()) << plan.status().to_string();
    const auto count = static_cast<size_t>(rows * columns);
    std::vector<float> x(count), row(static_cast<size_t>(columns)), scale{0.5f},
        column(static_cast<size_t>(rows)), product(count);
    std::vector<uint8_t> greater(count);
    for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 17);
    for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i % 5);
    for (size_t i = 0; i < column.size(); ++i) column[i] = static_cast<float>(i % 7);
    std::vector<std::byte> work((*plan)->workspace_bytes + 64);
    auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(work.data()) + 63) &
                                                 ~uintptr_t{63});
    const auto bytes = [](auto& list) { return reinterpret_cast<std::byte*>(list.data()); };
    const std::byte* in[] = {bytes(x), bytes(row), bytes(scale), bytes(column)};
    std::byte* out[] = {bytes(product), bytes(greater)};
    ASSERT_TRUE((*plan)->run({in, out, nullptr, aligned}).ok());
    for (size_t i = 0; i < count; ++i) {
      const size_t r = i / static_cast<size_t>(columns), c = i % static_cast<size_t>(columns);
      const float wanted = (x[i] + row[c]) * 0.5f;
      ASSERT_EQ(product[i], wanted) << i;
      ASSERT_EQ(greater[i] != 0, wanted > column[r]) << i;
    }
  }
}

TEST(FusedElementwise, RefusesABodyThatDoesNotFit) {
  Example e(2, 3);
  e.operands.pop_back();
  e.node.inputs.pop_back();
  const auto context = infer(e.node, e.operands);
  ASSERT_FALSE(context.ok());
  EXPECT_NE(context.status().message().find("body is no graph of 3 inputs"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::elementwise
