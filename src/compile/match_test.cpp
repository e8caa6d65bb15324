// SPDX-License-Identifier: Apache-2.0
#include "compile/match.h"

#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::kNoValue;
using graph::ValueId;

class MatchTest : public PassTest {
 protected:
  std::optional<Match> look(const Term& term, ValueId root) {
    if (g.graph.outputs.empty()) g.graph.outputs = {root};
    EXPECT_TRUE(infer_and_fold(g.graph).ok());
    const Pattern pattern(g.graph);
    return find(pattern, term, root);
  }
  const Term x = any("x");
};

TEST_F(MatchTest, NamesStandForOneValue) {
  const ValueId a = g.input("a", {3}), b = g.input("b", {3});
  EXPECT_EQ(look(op("Mul", {x, x}), node("Mul", {a, a}))->value("x"), a);
  g.graph.outputs.clear();
  EXPECT_FALSE(look(op("Mul", {x, x}), node("Mul", {a, b})));
}

TEST_F(MatchTest, OperandsCommuteWhereTheTermSaysSo) {
  const ValueId a = g.input("a", {3});
  const ValueId y = node("Add", {scalar(2), node("Neg", {a})});
  EXPECT_FALSE(look(op("Add", {op("Neg", {x}), number(2)}), y));
  const auto match = look(both("Add", op("Neg", {x}), number("k")), y);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->number("k"), 2);
  EXPECT_EQ(match->value("y"), kNoValue);
}

// The first alternative fits the operand but not the whole: the second must be tried.
TEST_F(MatchTest, AlternativesAreTriedUntilTheWholeFits) {
  const ValueId a = g.input("a", {3}), b = g.input("b", {3});
  const ValueId y = node("Sub", {node("Mul", {a, b}), b});
  const Term either_way =
      either({op("Mul", {any("p"), any("q")}), op("Mul", {any("q"), any("p")})});
  const auto match = look(op("Sub", {either_way, any("p")}), y);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->value("p"), b);
  EXPECT_EQ(match->value("q"), a);
}

TEST_F(MatchTest, ResultsThatOthersReadAreNoMatch) {
  const ValueId a = g.input("a", {3});
  const ValueId inner = node("Neg", {a}), y = node("Exp", {inner});
  const Term term = op("Exp", {op("Neg", {x})});
  EXPECT_TRUE(look(term, y));
  g.graph.outputs = {y, node("Abs", {inner})};
  EXPECT_FALSE(look(term, y));
  g.graph.outputs = {y, inner};
  EXPECT_FALSE(look(term, y));
}

// Read twice, by operators of the match alone.
TEST_F(MatchTest, ResultsMayBeReadTwiceInside) {
  const ValueId a = g.input("a", {3});
  const ValueId inner = node("Neg", {a}), y = node("Mul", {inner, node("Exp", {inner})});
  const Term d = op("Neg", {x});
  EXPECT_TRUE(look(both("Mul", op("Exp", {d}), d), y));
}

}  // namespace
}  // namespace anynpu::compile
