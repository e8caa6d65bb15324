// SPDX-License-Identifier: Apache-2.0
// The attributes of an operator: what is missing, of another type or outside its range is refused
// with its name and value.
#include <algorithm>
#include <iterator>
#include <limits>

#include "base/text.h"
#include "import/singleop/builder.h"

namespace anynpu::singleop {

template <typename T>
const T* Builder::find(const char* name) {
  const auto found = op_.attrs.find(name);
  if (!ok() || found == op_.attrs.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  refuse(Code::invalid_argument, "attribute '{}' is set as {}, expected {}", name,
         type_name(found->second), type_name(Attr(T{})));
  return nullptr;
}

void Builder::require(const char* name, const char* type) {
  if (!has_attr(name)) refuse(Code::invalid_argument, "attribute '{}' ({}) is missing", name, type);
}

int64_t Builder::i(const char* name) {
  require(name, "int");
  return i(name, 0);
}
int64_t Builder::i(const char* name, int64_t otherwise) {
  const int64_t* value = find<int64_t>(name);
  return value ? *value : otherwise;
}
int64_t Builder::i_between(const char* name, int64_t otherwise, int64_t least, int64_t most) {
  const int64_t value = i(name, otherwise);
  if (value >= least && value <= most) return value;
  refuse(Code::invalid_argument, "attribute '{}' is {}, expected {} to {}", name, value, least,
         most);
  return otherwise;
}
void Builder::counts(const char* name, int64_t actual, const char* what) {
  const int64_t stated = i(name, actual);
  if (stated != actual) {
    refuse(Code::invalid_argument, "attribute '{}' is {}, but {} {}", name, stated, actual, what);
  }
}
float Builder::f(const char* name) {
  require(name, "float");
  return f(name, 0);
}
float Builder::f(const char* name, float otherwise) {
  const float* value = find<float>(name);
  return value ? *value : otherwise;
}
bool Builder::flag(const char* name, bool otherwise) {
  const bool* value = find<bool>(name);
  return value ? *value : otherwise;
}
std::string Builder::s(const char* name, const char* otherwise) {
  const std::string* value = find<std::string>(name);
  return value ? *value : otherwise;
}
std::string Builder::word(const char* name, const char* otherwise,
                          std::initializer_list<std::string_view> taken) {
  std::string value = s(name, otherwise);
  if (!ok() || contains(taken, value)) return value;
  std::string list;
  for (std::string_view one : taken) list += format("{}'{}'", list.empty() ? "" : ", ", one);
  refuse(Code::unsupported_feature, "{} is '{}', expected {}{}", name, value,
         taken.size() > 1 ? "one of " : "", list);
  return otherwise;
}
std::vector<int64_t> Builder::ints(const char* name) {
  require(name, "list_int");
  return ints(name, {});
}
std::vector<int64_t> Builder::ints(const char* name, std::vector<int64_t> otherwise) {
  if (const auto* value = find<std::vector<int64_t>>(name)) return *value;
  return otherwise;
}
std::vector<float> Builder::floats(const char* name) {
  const auto* value = find<std::vector<float>>(name);
  return value ? *value : std::vector<float>{};
}
std::vector<std::string> Builder::strings(const char* name) {
  const auto* value = find<std::vector<std::string>>(name);
  return value ? *value : std::vector<std::string>{};
}
DType Builder::dtype_attr(const char* name, DType otherwise) {
  const auto found = op_.attrs.find(name);
  if (found == op_.attrs.end()) return otherwise;
  if (const auto* type = std::get_if<DType>(&found->second)) return *type;
  const auto number =
      static_cast<int32_t>(i_between(name, 0, 0, std::numeric_limits<int32_t>::max()));
  if (ok()) {
    if (Status known = check_dtype(number); !known.ok()) {
      status_ = known.with_note(format("attribute '{}' of {}", name, op_.type));
      return otherwise;
    }
  }
  return static_cast<DType>(number);
}

}  // namespace anynpu::singleop
