// SPDX-License-Identifier: Apache-2.0
// Nodes that read or produce strings. Operators on strings have their own functions. Those that
// only move or compare elements run with their integer kernels: each string is replaced by its
// index in the sorted list of the node's strings, and indices become strings again.
#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include "ops/elements/cast_attributes.h"
#include "ops/families.h"
#include "ops/text/text.h"
#include "tensor/texts.h"

namespace anynpu::ops::text {

namespace {

constexpr int64_t kOnnxString = 8;  // TensorProto.STRING
constexpr uint64_t kMostElements = uint64_t{1} << 20;
constexpr uint64_t kMostCharacters = uint64_t{64} << 20;

struct TextOp {
  std::string_view domain, name;
  TextFunction run;
};
constexpr TextOp kTextOps[] = {
    {"", "StringConcat", concat_texts},
    {"", "StringSplit", split_texts},
    {"", "StringNormalizer", normalize_texts},
    {"", "RegexFullMatch", match_texts},
    {"", "Cast", cast_texts},
    {"", "CastLike", cast_texts},
    {"anynpu", "FormatNumbers", format_numbers},
    {"anynpu", "ChangeCase", change_case},
    {"anynpu", "ParseNumbers", cast_texts},
};

TextFunction function_of(const graph::Node& node) {
  for (const TextOp& op : kTextOps) {
    if (node.domain == op.domain && node.op == op.name) return op.run;
  }
  return nullptr;
}

// The places of strings in their sorted list, "" in front: what pads and Trilu fill in as 0.
class TextNumbers {
 public:
  void add(std::string_view text) { places_.emplace(text, 0); }
  void number() {
    int64_t next = 0;
    for (auto& [text, place] : places_) {
      place = next++;
      texts_.push_back(text);
    }
  }
  int64_t of(std::string_view text) const { return places_.find(text)->second; }
  std::string_view text(int64_t place) const { return texts_[static_cast<size_t>(place)]; }

 private:
  std::map<std::string_view, int64_t> places_{{std::string_view{}, 0}};
  std::vector<std::string_view> texts_;
};

// A node of numbers that represents one of strings. Holds what its operands point to.
struct Numbered {
  graph::Node node;
  std::vector<Operand> inputs;
  std::vector<std::vector<int64_t>> elements;
  TextNumbers places;
};

const std::vector<std::string>* pool_of(const graph::Node& node) {
  const auto found = node.attrs.find("pool_strings");
  return found == node.attrs.end() ? nullptr
                                   : std::get_if<std::vector<std::string>>(&found->second);
}

Result<Numbered> number_texts(const graph::Node& node, const std::vector<Operand>& inputs) {
  Numbered made{node, inputs, {}, {}};
  const std::vector<std::string>* pool = pool_of(node);
  std::vector<std::vector<std::string_view>> texts(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present || inputs[i].dtype != DType::string) continue;
    ANYNPU_ASSIGN(texts[i], texts_of(inputs[i]));
    for (std::string_view text : texts[i]) made.places.add(text);
  }
  if (pool) {
    for (const std::string& text : *pool) made.places.add(text);
  }
  made.places.number();
  const auto place = [&](std::string_view text) { return made.places.of(text); };
  made.elements.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present || inputs[i].dtype != DType::string) continue;
    std::vector<int64_t>& elements = made.elements[i];
    elements.resize(texts[i].size());
    std::transform(texts[i].begin(), texts[i].end(), elements.begin(), place);
    made.inputs[i].dtype = DType::i64;
    made.inputs[i].constant = std::as_bytes(std::span(elements));
  }
  if (pool) {
    std::vector<int64_t> items(pool->size());
    std::transform(pool->begin(), pool->end(), items.begin(), place);
    made.node.attrs.erase("pool_strings");
    made.node.attrs["pool_int64s"] = std::move(items);
  }
  return made;
}

// The outputs of the operator that have the type of the strings among its inputs.
bool holds_texts(const OpSchema& schema, const std::vector<Operand>& inputs, size_t output) {
  const FormalOperand* made = formal_at(schema.outputs, output);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const FormalOperand* read = formal_at(schema.inputs, i);
    if (made && read && inputs[i].present && inputs[i].dtype == DType::string &&
        read->type_var == made->type_var)
      return true;
  }
  return false;
}

FoldedList move_texts(const graph::Node& node, const std::vector<Operand>& inputs) {
  ANYNPU_ASSIGN(const Numbered numbered, number_texts(node, inputs));
  ANYNPU_ASSIGN(const OpContext context, infer(numbered.node, numbered.inputs));
  for (const Operand& output : context.outputs) {
    if (output.fully_known())
      ANYNPU_TRY(check_size(context, static_cast<uint64_t>(element_count(output.shape)), 0));
  }
  ANYNPU_ASSIGN(auto results, evaluate(context));
  std::vector<Folded> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    const Operand& output = context.outputs[i];
    if (!output.present || !holds_texts(*context.schema, inputs, i)) {
      outputs.push_back({output.dtype, output.shape, std::move(results[i])});
      continue;
    }
    std::vector<std::string_view> texts(results[i].size() / sizeof(int64_t));
    uint64_t characters = 0;
    for (size_t k = 0; k < texts.size(); ++k) {
      int64_t place = 0;
      std::memcpy(&place, results[i].data() + k * sizeof place, sizeof place);
      texts[k] = numbered.places.text(place);
      characters += texts[k].size();
    }
    ANYNPU_TRY(check_size(context, texts.size(), characters));
    outputs.push_back({DType::string, output.shape, pack_texts(texts)});
  }
  return outputs;
}

// Every result is an element of the input: no interpolation, and no other value outside.
bool only_selects(const graph::Node& node) {
  const std::string otherwise = node.op == "GridSample" ? "linear" : "nearest";
  return node.string_attr("mode", otherwise) == "nearest" &&
         node.float_attr("extrapolation_value", 0) == 0;
}

bool only_moves(const graph::Node& node) {
  if (!node.domain.empty() || node.string_attr("reduction", "none") != "none") return false;
  if (node.op == "GridSample" || node.op == "Resize" || node.op == "Upsample")
    return only_selects(node);
  return traits_of(node).strings == Strings::moved;
}

}  // namespace

bool concerns_texts(const graph::Node& node, const std::vector<Operand>& inputs) {
  const TextFunction function = function_of(node);
  if (function && (function != cast_texts || !node.domain.empty())) return true;
  if (node.op == "Cast" && node.domain.empty() && node.int_attr("to", 0) == kOnnxString)
    return true;
  const bool reads = std::any_of(inputs.begin(), inputs.end(), [](const Operand& input) {
    return input.present && input.dtype == DType::string;
  });
  if (!reads) return false;
  const auto schema = Registry::instance().find(node);
  return !schema.ok() || !(*schema)->is_flow;  // sequences and loops carry what they get
}

FoldedList fold_texts(const graph::Node& node, const std::vector<Operand>& inputs) {
  OpContext context;
  context.node = &node;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present || inputs[i].is_constant) continue;
    return fail(Code::unsupported_feature,
                "{} reads or makes strings, and its input {} is known in the run only: strings are "
                "worked out when the model is compiled; expected constants there, or numbers (ids "
                "of words) in place of strings",
                context.label(), i);
  }
  const TextFunction function = function_of(node);
  if (function == cast_texts) {
    context.inputs = inputs;
    return cast_texts(context);
  }
  if (function) {
    ANYNPU_ASSIGN(context, infer(node, inputs));
    return function(context);
  }
  if (only_moves(node)) return move_texts(node, inputs);
  return fail(Code::unsupported_dtype,
              "{} cannot compute with strings; expected numbers, or an operator that moves or "
              "compares elements",
              context.label());
}

Result<std::vector<std::string_view>> texts_of(const Operand& operand) {
  return unpack_texts(operand.constant, static_cast<size_t>(element_count(operand.shape)));
}

Status check_size(const OpContext& context, uint64_t elements, uint64_t characters) {
  if (elements <= kMostElements && characters <= kMostCharacters) return {};
  return fail(Code::unsupported_shape,
              "{} makes {} elements with {} characters of strings; expected at most {} and {}",
              context.label(), elements, characters, kMostElements, kMostCharacters);
}

Folded folded(Shape shape, const std::vector<std::string>& texts) {
  return {DType::string, std::move(shape),
          pack_texts(std::vector<std::string_view>(texts.begin(), texts.end()))};
}

namespace {

// The compiler has the outputs from fold_texts().
Status no_rule(OpContext&) { return {}; }

// As many strings, or numbers of type `to`, as there are elements.
Status same_shape_rule(OpContext& context) {
  Operand& y = context.outputs[0];
  y.dtype = DType::string;
  if (context.node->attrs.contains("to")) {
    ANYNPU_ASSIGN(y.dtype, dtype_of_onnx(context, context.int_attr("to")));
  }
  y.has_shape = context.inputs[0].has_shape;
  y.shape = context.inputs[0].shape;
  return {};
}

OpSchema text_schema(std::string_view name, int64_t since) {
  return OpSchema{.name = name,
                  .since = since,
                  .inputs = {{"X", "T"}},
                  .outputs = {{"Y", "T"}},
                  .types = {{"T", {DType::string}}},
                  .traits = OpTraits::general().with(SizedBy::data),
                  .shape = no_rule,
                  .is_flow = true};
}

}  // namespace

void register_family(Registry& registry) {
  OpSchema concat = text_schema("StringConcat", 20);
  concat.inputs.push_back({"Y", "T"});
  registry.add(concat);
  OpSchema split = text_schema("StringSplit", 20);
  split.outputs.push_back({"Z", "I"});
  split.attrs = {{"delimiter", AttrKind::s}, {"maxsplit", AttrKind::i}};
  registry.add(split);
  OpSchema normalizer = text_schema("StringNormalizer", 10);
  normalizer.attrs = {{"case_change_action", AttrKind::s, std::string_view("NONE")},
                      {"is_case_sensitive", AttrKind::i, int64_t{0}},
                      {"locale", AttrKind::s},
                      {"stopwords", AttrKind::strings}};
  registry.add(normalizer);
  OpSchema match = text_schema("RegexFullMatch", 20);
  match.attrs = {{"pattern", AttrKind::s}};
  registry.add(match);
  OpSchema numbers = text_schema("FormatNumbers", 1);
  numbers.domain = "anynpu";
  numbers.shape = same_shape_rule;
  numbers.inputs = {{"X", "N"}};
  numbers.types.push_back({"N", kValues | DTypeSet{DType::string}});
  numbers.attrs = {{"notation", AttrKind::s, std::string_view("f")},
                   {"precision", AttrKind::i, int64_t{-1}},
                   {"width", AttrKind::i, int64_t{-1}},
                   {"fill", AttrKind::s}};
  registry.add(numbers);
  OpSchema letters = text_schema("ChangeCase", 1);
  letters.domain = "anynpu";
  letters.shape = same_shape_rule;
  letters.attrs = {{"action", AttrKind::s}, {"unicode", AttrKind::i, int64_t{0}}};
  registry.add(letters);
  OpSchema parsed = text_schema("ParseNumbers", 1);
  parsed.domain = "anynpu";
  parsed.shape = same_shape_rule;
  parsed.outputs = {{"Y", "N"}};
  parsed.types.push_back({"N", kNumbers});
  parsed.attrs = {{"to", AttrKind::i, {}, true}};
  registry.add(parsed);
}

}  // namespace anynpu::ops::text
