// SPDX-License-Identifier: Apache-2.0
// Attributes of ge::Operator. Numbers are kept as 64 bits wide, whatever the setter's type.
#include "api/acl_ge/operator.h"

namespace ge {

namespace {

template <typename T>
struct Kept {
  using Type = T;
};
template <>
struct Kept<int32_t> {
  using Type = int64_t;
};
template <>
struct Kept<uint32_t> {
  using Type = int64_t;
};
template <>
struct Kept<std::vector<int32_t>> {
  using Type = std::vector<int64_t>;
};

template <typename To, typename From>
To convert(const From& value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_arithmetic_v<To>) {
    return static_cast<To>(value);
  } else {
    return To(value.begin(), value.end());
  }
}

template <typename T>
graphStatus get(const std::shared_ptr<OperatorImpl>& impl, const char* name, T& value) {
  using Stored = typename Kept<T>::Type;
  if (!impl || name == nullptr) return GRAPH_FAILED;
  const auto found = impl->attributes.find(name);
  if (found == impl->attributes.end()) return GRAPH_FAILED;
  const Stored* stored = std::get_if<Stored>(&found->second);
  if (stored == nullptr) return GRAPH_FAILED;
  value = convert<T>(*stored);
  return GRAPH_SUCCESS;
}

template <typename T>
void set(const std::shared_ptr<OperatorImpl>& impl, const char* name, const T& value) {
  if (!impl || name == nullptr) return;
  impl->attributes[name] = convert<typename Kept<T>::Type>(value);
}

}  // namespace

#define ATTRIBUTE(type, argument)                                      \
  graphStatus Operator::GetAttr(const char* name, type& value) const { \
    return get(impl_, name, value);                                    \
  }                                                                    \
  Operator& Operator::SetAttr(const char* name, argument value) {      \
    set<type>(impl_, name, value);                                     \
    return *this;                                                      \
  }
ATTRIBUTE(bool, bool)
ATTRIBUTE(int64_t, int64_t)
ATTRIBUTE(int32_t, int32_t)
ATTRIBUTE(uint32_t, uint32_t)
ATTRIBUTE(float, float)
ATTRIBUTE(AscendString, const AscendString&)
ATTRIBUTE(DataType, const DataType&)
ATTRIBUTE(Tensor, const Tensor&)
ATTRIBUTE(std::vector<bool>, const std::vector<bool>&)
ATTRIBUTE(std::vector<int64_t>, const std::vector<int64_t>&)
ATTRIBUTE(std::vector<int32_t>, const std::vector<int32_t>&)
ATTRIBUTE(std::vector<float>, const std::vector<float>&)
ATTRIBUTE(std::vector<AscendString>, const std::vector<AscendString>&)
ATTRIBUTE(std::vector<DataType>, const std::vector<DataType>&)
ATTRIBUTE(std::vector<std::vector<int64_t>>, const std::vector<std::vector<int64_t>>&)
#undef ATTRIBUTE

Operator& Operator::SetAttr(const char* name, const char* value) {
  return SetAttr(name, AscendString(value));
}

void Operator::AttrRegister(const char* name, bool value) { SetAttr(name, value); }
void Operator::AttrRegister(const char* name, int64_t value) { SetAttr(name, value); }
void Operator::AttrRegister(const char* name, float value) { SetAttr(name, value); }
void Operator::AttrRegister(const char* name, const AscendString& value) { SetAttr(name, value); }
void Operator::AttrRegister(const char* name, const DataType& value) { SetAttr(name, value); }
void Operator::AttrRegister(const char* name, const Tensor& value) { SetAttr(name, value); }
void Operator::AttrRegister(const char* name, const std::vector<int64_t>& value) {
  SetAttr(name, value);
}
void Operator::AttrRegister(const char* name, const std::vector<float>& value) {
  SetAttr(name, value);
}
void Operator::AttrRegister(const char* name, const std::vector<AscendString>& value) {
  SetAttr(name, value);
}
void Operator::AttrRegister(const char* name, const std::vector<DataType>& value) {
  SetAttr(name, value);
}
void Operator::AttrRegister(const char* name, const std::vector<std::vector<int64_t>>& value) {
  SetAttr(name, value);
}

void Operator::RequiredAttrWithTypeRegister(const char* name, const char*) {
  if (impl_ && name != nullptr) impl_->attributes[name];
}

}  // namespace ge
