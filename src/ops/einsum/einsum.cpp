// SPDX-License-Identifier: Apache-2.0
// Einsum: its equation, and the reference, where every letter is a loop and strides say how each
// operand moves with it: right for every equation and type.
#include "ops/einsum/einsum.h"

#include <array>

#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/widen.h"

namespace anynpu::ops::einsum {

namespace {

constexpr size_t kMostOperands = 8;
constexpr size_t kMostLetters = 2 * 26 + 10;  // small, large, and digits

Status bad(const OpContext& context, std::string_view why) {
  return fail(Code::invalid_argument, "{}: equation '{}' {}", context.label(),
              context.string_attr("equation"), why);
}

// Dimensions of an ellipsis are named from the last: '0' is the last of them.
Result<std::string> expanded(const OpContext& context, const std::string& term, size_t rank) {
  const size_t dots = term.find("...");
  const size_t letters = term.size() - (dots == std::string::npos ? 0 : 3);
  if (dots == std::string::npos ? letters != rank : letters > rank || rank - letters > 9) {
    return bad(context, format("has the term '{}' for a tensor of {} dimensions", term, rank));
  }
  if (dots == std::string::npos) return term;
  std::string middle;
  for (size_t i = rank - letters; i-- > 0;) middle += static_cast<char>('0' + i);
  return term.substr(0, dots) + middle + term.substr(dots + 3);
}

}  // namespace

Result<Equation> equation_of(const OpContext& context) {
  std::string text;
  for (char c : context.string_attr("equation")) {
    if (c != ' ') text += c;
  }
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation eq;
  for (size_t at = 0, end = 0; at <= left.size(); at = end + 1) {
    end = std::min(left.find(',', at), left.size());
    eq.terms.push_back(left.substr(at, end - at));
  }
  if (eq.terms.size() != context.inputs.size() || eq.terms.size() > kMostOperands) {
    return bad(context,
               format("has {} terms for {} inputs", eq.terms.size(), context.inputs.size()));
  }
  std::map<char, int> uses;
  size_t dots = 0;
  for (size_t i = 0; i < eq.terms.size(); ++i) {
    const Shape& shape = context.inputs[i].shape;
    ANYNPU_ASSIGN(eq.terms[i], expanded(context, eq.terms[i], shape.size()));
    for (size_t d = 0; d < shape.size(); ++d) {
      const char letter = eq.terms[i][d];
      const bool digit = letter >= '0' && letter <= '9';
      if (!digit && !((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) {
        return bad(context, "has a character that is no letter");
      }
      if (digit) dots = std::max(dots, static_cast<size_t>(letter - '0') + 1);
      ++uses[letter];
      int64_t& extent = eq.extents.try_emplace(letter, 1).first->second;
      if (extent != 1 && shape[d] != 1 && extent != shape[d]) {
        return bad(context, format("gives '{}' the extents {} and {}", letter, extent, shape[d]));
      }
      if (shape[d] != 1) extent = shape[d];
    }
  }
  std::string ellipsis;
  for (size_t i = dots; i-- > 0;) ellipsis += static_cast<char>('0' + i);
  if (arrow == std::string::npos) {
    eq.out = ellipsis;
    for (const auto& [letter, count] : uses) {
      if (count == 1 && letter > '9') eq.out += letter;
    }
  } else {
    eq.out = text.substr(arrow + 2);
    if (const size_t at = eq.out.find("..."); at != std::string::npos)
      eq.out.replace(at, 3, ellipsis);
  }
  std::map<char, int> seen;
  for (char letter : eq.out) {
    if (!eq.extents.contains(letter) || ++seen[letter] > 1)
      return bad(context, "has a wrong output");
  }
  return eq;
}

namespace {

Status einsum_rule(OpContext& context) {
  context.outputs[0].dtype = context.inputs[0].dtype;
  for (const Operand& input : context.inputs) {
    if (!input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const Equation eq, equation_of(context));
  Shape shape;
  for (char letter : eq.out) shape.push_back(eq.extents.at(letter));
  return set_output(context, 0, context.inputs[0].dtype, std::move(shape));
}

// Loops over some letters, the last one innermost, with the place of every operand.
struct Loops {
  std::vector<int64_t> extent;
  std::vector<std::array<int64_t, kMostOperands>> step;

  int64_t count() const { return element_count(extent); }
};

class Walk {
 public:
  Walk(const Loops& loops, const std::array<int64_t, kMostOperands>& start, int64_t first = 0)
      : at(start), loops_(loops) {
    // At the first element there is nothing to divide, and loops may be empty.
    for (size_t l = loops.extent.size(); first > 0 && l-- > 0; first /= loops.extent[l]) {
      index_[l] = first % loops.extent[l];
      move(l, index_[l]);
    }
  }
  void next() {
    for (size_t l = loops_.extent.size(); l-- > 0;) {
      if (++index_[l] < loops_.extent[l]) return move(l, 1);
      move(l, 1 - loops_.extent[l]);
      index_[l] = 0;
    }
  }

  std::array<int64_t, kMostOperands> at;  // in elements

 private:
  void move(size_t letter, int64_t times) {
    for (size_t i = 0; i < kMostOperands; ++i) at[i] += times * loops_.step[letter][i];
  }
  const Loops& loops_;
  std::array<int64_t, kMostLetters> index_{};
};

template <typename W>
PlanResult plan_of(const OpContext& context) {
  ANYNPU_ASSIGN(const Equation eq, equation_of(context));
  Loops kept, summed;
  const auto add = [&](Loops& loops, char letter) {
    loops.extent.push_back(eq.extents.at(letter));
    auto& step = loops.step.emplace_back();
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const Shape& shape = context.inputs[i].shape;
      const auto strides = strides_of(shape);
      for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] != 1 && eq.terms[i][d] == letter) step[i] += strides[d];
      }
    }
  };
  for (char letter : eq.out) add(kept, letter);
  for (const auto& [letter, extent] : eq.extents) {
    if (eq.out.find(letter) == std::string::npos) add(summed, letter);
  }
  const auto load = load_block<W>(context.inputs[0].dtype);
  const auto store = store_block<W>(context.outputs[0].dtype);
  const size_t operands = context.inputs.size();
  return make_plan([=, outputs = kept.count(), terms = summed.count()](const RunArgs& args) {
    parallel(static_cast<size_t>(outputs), 64, [&](size_t begin, size_t end) {
      Walk outer(kept, {}, static_cast<int64_t>(begin));
      for (size_t o = begin; o < end; ++o, outer.next()) {
        W sum = 0;
        Walk inner(summed, outer.at);
        for (int64_t s = 0; s < terms; ++s, inner.next()) {
          W product = 1;
          for (size_t i = 0; i < operands; ++i) {
            W value = 0;
            load(args.inputs[i], inner.at[i], 0, &value, 1);
            product *= value;
          }
          sum += product;
        }
        store(args.outputs[0], static_cast<int64_t>(o), &sum, 1);
      }
    });
  });
}

PlanResult plan_einsum(const OpContext& context) {
  return is_floating(context.inputs[0].dtype) ? plan_of<double>(context)
                                              : plan_of<uint64_t>(context);
}

}  // namespace

void register_family(Registry& registry) {
  registry.add(OpSchema{.name = "Einsum",
                        .since = 12,
                        .inputs = {{"Inputs", "T", Presence::variadic}},
                        .outputs = {{"Output", "T"}},
                        .types = {{"T", kNumbers}},
                        .attrs = {{"equation", AttrKind::s, {}, true}},
                        .traits = OpTraits::general(),
                        .shape = einsum_rule});
  registry.add_kernels("Einsum",
                       {// Transposes and matrix products, two operands at a time.
                        {"einsum_avx512",
                         {DType::f32},
                         can_run_einsum_products<Isa::avx512>,
                         create_plain<plan_einsum_products<Isa::avx512>>},
                        {"einsum_avx2",
                         {DType::f32},
                         can_run_einsum_products<Isa::avx2>,
                         create_plain<plan_einsum_products<Isa::avx2>>},
                        {"einsum_baseline",
                         {DType::f32},
                         can_run_einsum_products<Isa::baseline>,
                         create_plain<plan_einsum_products<Isa::baseline>>},
                        // Short floats through the float32 kernels above.
                        {"widened", kShortFloats, can_run_widened, create_widened},
                        // Everything, over all indices: the oracle of the tests.
                        {"reference", kNumbers, nullptr, create_plain<plan_einsum>}});
}

}  // namespace anynpu::ops::einsum
