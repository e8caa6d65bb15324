// SPDX-License-Identifier: Apache-2.0
// How recipes read the arguments of a call.
#include <algorithm>

#include "aclnn/recipe_state.h"

namespace anynpu::aclnn {

namespace {

bool names(std::string_view parameter, std::string_view wanted) {
  if (parameter == wanted) return true;
  return (wanted == "self" || wanted == "out") && parameter == "selfRef";
}

const char* kind_name(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::tensor:
      return "an aclTensor";
    case ArgumentKind::tensors:
      return "an aclTensorList";
    case ArgumentKind::scalar:
      return "an aclScalar";
    case ArgumentKind::scalars:
      return "an aclScalarList";
    case ArgumentKind::ints:
      return "an aclIntArray";
    case ArgumentKind::floats:
      return "an aclFloatArray";
    case ArgumentKind::bools:
      return "an aclBoolArray";
    case ArgumentKind::integer:
      return "an integer";
    case ArgumentKind::real:
      return "a number";
    case ArgumentKind::text:
      return "a text";
  }
  return "an argument";
}

}  // namespace

const Argument* Recipe::find(Param param) const {
  const auto& parameters = call_.signature->parameters;
  if (param.index >= 0) {
    const auto place = static_cast<size_t>(param.index);
    return place < call_.arguments.size() ? &call_.arguments[place] : nullptr;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i] == param.name) return &call_.arguments[i];
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (names(parameters[i], param.name)) return &call_.arguments[i];
  }
  return nullptr;
}

std::string Recipe::label(Param param) const {
  const Argument* found = find(param);
  if (!found) return std::string(param.name);
  return call_.signature->parameters[static_cast<size_t>(found - call_.arguments.data())];
}

const Argument& Recipe::argument(Param param, ArgumentKind kind) const {
  const Argument* found = find(param);
  if (!found || found->kind != kind) {
    refuse(Code::internal, "{} has no parameter '{}' that is {}", call_.signature->name, param.name,
           kind_name(kind));
  }
  return *found;
}

bool Recipe::has_parameter(Param param) const { return find(param) != nullptr; }

bool Recipe::is_tensor(Param param) const {
  const Argument* found = find(param);
  return found && found->kind == ArgumentKind::tensor;
}

bool Recipe::is_list(Param param) const {
  const Argument* found = find(param);
  return found && found->kind == ArgumentKind::tensors;
}

bool Recipe::is_scalar_list(Param param) const {
  const Argument* found = find(param);
  return found && found->kind == ArgumentKind::scalars;
}

Param Recipe::result() const {
  for (size_t i = call_.arguments.size(); i-- > 0;) {
    if (call_.arguments[i].kind == ArgumentKind::tensor && call_.signature->outputs[i] != 'i')
      return static_cast<int>(i);
  }
  refuse(Code::internal, "{} has no output among its parameters", call_.signature->name);
}

bool Recipe::given(Param param) const {
  const Argument* found = find(param);
  return found && found->given;
}

const TensorView& Recipe::tensor(Param param) const {
  const Argument& found = argument(param, ArgumentKind::tensor);
  if (!found.given) {
    refuse(Code::invalid_handle, "{} is null; expected an aclTensor", label(param));
  }
  return view(found.first_tensor);
}

size_t Recipe::length(Param list) const {
  const Argument* found = find(list);
  if (!found) return 0;
  if (!found->given) {
    refuse(Code::invalid_handle, "{} is null; expected {}", label(list), kind_name(found->kind));
  }
  return found->tensors.size() + found->scalars.size() + found->ints.size() + found->floats.size() +
         found->bools.size();
}

bool Recipe::given(Param list, size_t index) const {
  const Argument& found = argument(list, ArgumentKind::tensors);
  return index < found.tensors.size() && found.tensors[index];
}

const TensorView& Recipe::tensor(Param list, size_t index) const {
  const Argument& found = argument(list, ArgumentKind::tensors);
  if (index >= found.tensors.size()) {
    refuse("{} has {} tensors; expected more than {}", label(list), found.tensors.size(), index);
  }
  if (!found.tensors[index]) {
    refuse(Code::invalid_handle, "tensor {} of {} is null", index, label(list));
  }
  return view(found.first_tensor + static_cast<uint32_t>(index));
}

void Recipe::note_value(uint32_t place, const Scalar& value) {
  for (const ReadValue& read : state_->read_values) {
    if (read.place == place && !read.compared) return;
  }
  ReadValue read;
  read.place = place;
  read.value = value;
  state_->read_values.push_back(read);
}

bool Recipe::equals(Param param, double value) {
  const Argument* found = find(param);
  if (!found || !found->given) return false;
  ReadValue read;
  read.place = found->first_value;
  read.compared = true;
  read.number = value;
  read.equal = value == (found->kind == ArgumentKind::scalar ? found->scalar->real()
                         : found->kind == ArgumentKind::real ? found->real
                                                             : static_cast<double>(found->integer));
  state_->read_values.push_back(read);
  return read.equal;
}

int64_t Recipe::integer(Param param) {
  const Argument& found = argument(param, ArgumentKind::integer);
  note_value(found.first_value, scalar_of(found.integer));
  return found.integer;
}

double Recipe::real(Param param) {
  const Argument& found = argument(param, ArgumentKind::real);
  note_value(found.first_value, scalar_of(found.real));
  return found.real;
}

std::string Recipe::text(Param param) const {
  return std::string(argument(param, ArgumentKind::text).text);
}
Ints Recipe::ints(Param param) const {
  const auto& list = argument(param, ArgumentKind::ints).ints;
  if (row_.is_list(label(param))) {
    refuse(Code::internal, "the values of {} come with every call; use Recipe::list", label(param));
  }
  return {list.begin(), list.end()};
}
Floats Recipe::floats(Param param) const {
  const auto& list = argument(param, ArgumentKind::floats).floats;
  return {list.begin(), list.end()};
}
std::vector<bool> Recipe::bools(Param param) const {
  const auto& list = argument(param, ArgumentKind::bools).bools;
  return {list.begin(), list.end()};
}

const Scalar& Recipe::scalar(Param param) {
  const Argument& found = argument(param, ArgumentKind::scalar);
  if (!found.given) {
    refuse(Code::invalid_handle, "{} is null; expected an aclScalar", label(param));
  }
  note_value(found.first_value, *found.scalar);
  return *found.scalar;
}

const Scalar& Recipe::scalar(Param list, size_t index) {
  const Argument& found = argument(list, ArgumentKind::scalars);
  if (index >= found.scalars.size()) {
    refuse("{} has {} scalars; expected more than {}", label(list), found.scalars.size(), index);
  }
  note_value(found.first_value + static_cast<uint32_t>(index), *found.scalars[index]);
  return *found.scalars[index];
}

DType Recipe::scalar_type(Param param) const {
  const Argument& found = argument(param, ArgumentKind::scalar);
  if (!found.given) {
    refuse(Code::invalid_handle, "{} is null; expected an aclScalar", label(param));
  }
  return found.scalar->dtype;
}

DType Recipe::scalar_type(Param list, size_t index) const {
  const Argument& found = argument(list, ArgumentKind::scalars);
  if (index >= found.scalars.size()) {
    refuse("{} has {} scalars; expected more than {}", label(list), found.scalars.size(), index);
  }
  return found.scalars[index]->dtype;
}

namespace {

int64_t from_front(int64_t axis, size_t rank, const std::string& name) {
  const auto count = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (axis < -count || axis >= count) {
    refuse("{} is {}; expected {} to {}", name, axis, -count, count - 1);
  }
  return axis < 0 ? axis + count : axis;
}

}  // namespace

int64_t Recipe::axis(Param param, size_t rank) {
  return from_front(integer(param), rank, label(param));
}

Ints Recipe::axes(Param param, size_t rank) const {
  std::vector<int64_t> list = ints(param);
  for (int64_t& axis : list) axis = from_front(axis, rank, label(param));
  std::sort(list.begin(), list.end());
  if (std::adjacent_find(list.begin(), list.end()) != list.end()) {
    refuse("{} is {}; expected each axis once", label(param), ints(param).plain());
  }
  if (list.empty()) {
    for (size_t i = 0; i < rank; ++i) list.push_back(static_cast<int64_t>(i));
  }
  if (rank == 0) list.clear();
  return list;
}

}  // namespace anynpu::aclnn
