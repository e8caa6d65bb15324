// SPDX-License-Identifier: Apache-2.0
// Generic checks of a node against its schema, then the shape rule.
#include "base/thread_pool.h"
#include "ops/registry.h"

namespace anynpu::ops {

namespace {

Status check_inputs(const OpContext& context) {
  const OpSchema& schema = *context.schema;
  const size_t given = context.node->inputs.size();
  if (given > 0 && !formal_at(schema.inputs, given - 1)) {
    return fail(Code::invalid_argument, "{} has {} inputs, expected at most {}; check the model",
                context.label(), given, schema.inputs.size());
  }
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const FormalOperand& formal = *formal_at(schema.inputs, i);
    if (formal.presence == Presence::optional || context.has_input(i)) continue;
    if (schema.is_flow && i >= schema.inputs.size()) continue;
    return fail(Code::invalid_argument,
                "{} lacks input {} ('{}'), which is required; check the model", context.label(), i,
                formal.name);
  }
  return {};
}

Status check_outputs(const OpContext& context) {
  const OpSchema& schema = *context.schema;
  const std::vector<graph::ValueId>& ids = context.node->outputs;
  if (ids.empty() || !formal_at(schema.outputs, ids.size() - 1)) {
    return fail(Code::invalid_argument, "{} has {} outputs, expected 1 to {}; check the model",
                context.label(), ids.size(), schema.outputs.size());
  }
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    const bool there = i < ids.size() && ids[i] != graph::kNoValue;
    if (there || schema.outputs[i].presence != Presence::required) continue;
    return fail(Code::invalid_argument,
                "{} lacks output {} ('{}'), which is required; give it a name in the model",
                context.label(), i, schema.outputs[i].name);
  }
  return {};
}

Status check_types(const OpContext& context) {
  const OpSchema& schema = *context.schema;
  for (const TypeVar& var : schema.types) {
    const Operand* first = nullptr;
    size_t first_index = 0;
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const FormalOperand* formal = formal_at(schema.inputs, i);
      const Operand& input = context.inputs[i];
      if (!formal || formal->type_var != var.name || !input.present) continue;
      if (!var.types.has(input.dtype)) {
        return fail(Code::unsupported_dtype,
                    "{}: input {} ('{}') has type {}, supported are {}; cast it in the model",
                    context.label(), i, formal->name, name_of(input.dtype), var.types.to_string());
      }
      // A variadic list may mix types only if its schema uses no shared variable.
      if (first && first->dtype != input.dtype) {
        return fail(
            Code::unsupported_dtype,
            "{}: inputs {} and {} have types {} and {}, expected the same; cast one of them",
            context.label(), first_index, i, name_of(first->dtype), name_of(input.dtype));
      }
      if (!first) first = &input, first_index = i;
    }
  }
  return {};
}

// A damaged file must not make a kernel read past the data of a constant. (Strings:
// tensor/texts.h.)
Status check_constants(const OpContext& context) {
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const Operand& input = context.inputs[i];
    if (!input.present || !input.is_constant || input.dtype == DType::string) continue;
    const auto count = static_cast<size_t>(element_count(input.shape));
    if (!input.fully_known() || input.constant.size() != bytes_of(input.dtype, count)) {
      return fail(
          Code::corrupt_model,
          "{}: constant input {} has {} bytes, its shape {} of {} says otherwise; export the "
          "model again",
          context.label(), i, input.constant.size(), to_string(input.shape), name_of(input.dtype));
    }
  }
  return {};
}

enum class Form : uint8_t { scalar, list, per_axis };
struct FormRow {
  std::string_view op, input;
  Form form;
};
constexpr FormRow kForms[] = {
#define X(op, input, form) {op, input, Form::form},
#include "ops/forms.def"
#undef X
};

// "one element", where the operand's shape is known and has something else; "" where it fits.
std::string form_wanted(const OpContext& context, Form form, const Operand& operand) {
  if (!operand.present || !operand.has_shape) return "";
  const int64_t count = element_count(operand.shape);  // negative: not known yet
  if (form == Form::scalar) return count < 0 || count == 1 ? "" : "one element";
  if (operand.shape.size() > 1) return "a list (rank 1)";
  const Operand& first = context.inputs[0];
  if (form == Form::list || !first.has_shape || count < 0 || count == first.rank()) return "";
  return format("{} elements, one for each axis of input 0", first.rank());
}

Status check_forms(const OpContext& context) {
  for (const FormRow& row : kForms) {
    if (row.op != context.schema->name) continue;
    for (size_t i = 0; i < context.schema->inputs.size(); ++i) {
      if (context.schema->inputs[i].name != row.input) continue;
      const std::string wanted = form_wanted(context, row.form, context.inputs[i]);
      if (wanted.empty()) continue;
      return fail(Code::shape_mismatch,
                  "{}: input {} ('{}') has the shape {}, expected {}; check the model",
                  context.label(), i, row.input, to_string(context.inputs[i].shape), wanted);
    }
  }
  return {};
}

bool kind_matches(const graph::Attr& attr, AttrKind kind) {
  return attr.index() == static_cast<size_t>(kind);  // both follow the order of graph::Attr
}

Status check_attrs(const OpContext& context) {
  for (const auto& [key, attr] : context.node->attrs) {
    const AttrSchema* found = nullptr;
    for (const AttrSchema& schema : context.schema->attrs) {
      if (schema.name == key) found = &schema;
    }
    if (!found) {
      return fail(Code::invalid_argument,
                  "{} has an attribute '{}' that the operator does not have at opset {}; check the "
                  "opset of the model",
                  context.label(), key, context.node->opset);
    }
    if (!kind_matches(attr, found->kind)) {
      return fail(Code::invalid_argument, "{}: attribute '{}' has the wrong type; check the model",
                  context.label(), key);
    }
  }
  for (const AttrSchema& schema : context.schema->attrs) {
    if (schema.required && !context.has_attr(schema.name)) {
      return fail(Code::invalid_argument,
                  "{} lacks attribute '{}', which is required; check the model", context.label(),
                  schema.name);
    }
  }
  return {};
}

}  // namespace

Target Target::host() { return {.backend = "cpu", .threads = ThreadPool::instance().threads()}; }

Result<OpContext> infer(const graph::Node& node, std::vector<Operand> inputs,
                        const Target& target) {
  OpContext context;
  context.node = &node;
  context.inputs = std::move(inputs);
  context.target = target;
  context.outputs.resize(node.outputs.size());
  ANYNPU_ASSIGN(context.schema, Registry::instance().find(node), "node '{}'", node.name);
  while (context.inputs.size() < context.schema->inputs.size()) {
    context.inputs.push_back(Operand::absent());
  }
  ANYNPU_TRY(check_inputs(context));
  ANYNPU_TRY(check_outputs(context));
  ANYNPU_TRY(check_types(context));
  ANYNPU_TRY(check_forms(context));
  ANYNPU_TRY(check_attrs(context));
  ANYNPU_TRY(check_constants(context));
  ANYNPU_TRY(context.schema->shape(context));
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    Operand& output = context.outputs[i];
    output.present = node.outputs[i] != graph::kNoValue;
    if (output.has_shape)
      ANYNPU_TRY(check_shape(output.shape), "{}, output {}", context.label(), i);
  }
  return context;
}

Result<OpContext> infer(const graph::Graph& graph, const graph::Node& node, const Target& target) {
  std::vector<Operand> inputs;
  for (graph::ValueId id : node.inputs) inputs.push_back(Operand::of(graph, id));
  return infer(node, std::move(inputs), target);
}

}  // namespace anynpu::ops
