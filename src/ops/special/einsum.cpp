// SPDX-License-Identifier: Apache-2.0
// Einsum: every letter is a loop; strides say how each operand moves with it. Plain loops over all
// letters: right for every equation, quick for small ones.
#include <array>
#include <map>

#include "ops/block/wide.h"
#include "ops/late.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/special/special.h"

namespace anynpu::ops {

namespace {

constexpr size_t kMostOperands = 8;

struct Equation {
  std::vector<std::string> terms;  // one per input; digits stand for the dimensions of "..."
  std::string out;
  std::map<char, int64_t> extents;
};

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

Result<Equation> parse(const OpContext& context) {
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

Status einsum_rule(OpContext& context) {
  context.outputs[0].dtype = context.inputs[0].dtype;
  for (const Operand& input : context.inputs) {
    if (!input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const Equation eq, parse(context));
  Shape shape;
  for (char letter : eq.out) shape.push_back(eq.extents.at(letter));
  return set_output(context, 0, context.inputs[0].dtype, std::move(shape));
}

template <typename W>
PlanResult plan_of(const OpContext& context) {
  ANYNPU_ASSIGN(const Equation eq, parse(context));
  std::string letters = eq.out;  // output letters first, then those summed over
  for (const auto& [letter, extent] : eq.extents) {
    if (eq.out.find(letter) == std::string::npos) letters += letter;
  }
  std::vector<int64_t> extent;
  int64_t outputs = 1, summed = 1;
  for (size_t l = 0; l < letters.size(); ++l) {
    extent.push_back(eq.extents.at(letters[l]));
    (l < eq.out.size() ? outputs : summed) *= extent.back();
  }
  const size_t operands = context.inputs.size();
  std::array<std::vector<int64_t>, kMostOperands> step;
  for (size_t i = 0; i < operands; ++i) {
    const auto strides = strides_of(context.inputs[i].shape);
    step[i].assign(letters.size(), 0);
    for (size_t d = 0; d < strides.size(); ++d) {
      if (context.inputs[i].shape[d] != 1) step[i][letters.find(eq.terms[i][d])] += strides[d];
    }
  }
  const auto load = load_block<W>(context.inputs[0].dtype);
  const auto store = store_block<W>(context.outputs[0].dtype);
  const size_t kept = eq.out.size();
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(outputs), 64, [&](size_t begin, size_t end) {
      for (size_t o = begin; o < end; ++o) {
        W sum = 0;
        for (int64_t s = 0; s < summed; ++s) {
          std::array<int64_t, kMostOperands> offset{};
          auto rest = s, high = static_cast<int64_t>(o);
          for (size_t l = letters.size(); l-- > 0;) {
            int64_t& index = l < kept ? high : rest;
            const int64_t at = index % extent[l];
            index /= extent[l];
            for (size_t i = 0; i < operands; ++i) offset[i] += at * step[i][l];
          }
          W product = 1;
          for (size_t i = 0; i < operands; ++i) {
            W value = 0;
            load(args.inputs[i], offset[i], 0, &value, 1);
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

void register_einsum(Registry& registry) {
  registry.add(OpSchema{.name = "Einsum",
                        .since = 12,
                        .inputs = {{"Inputs", "T", Presence::variadic}},
                        .outputs = {{"Output", "T"}},
                        .types = {{"T", kNumbers}},
                        .attrs = {{"equation", AttrKind::s, {}, true}},
                        .shape = einsum_rule});
  registry.add(KernelDef{
      .op = "Einsum", .name = "reference", .types = kNumbers, .create = create_plain<plan_einsum>});
}

}  // namespace anynpu::ops
