// SPDX-License-Identifier: Apache-2.0
#include "graph/ascend_string.h"

#include <functional>
#include <string_view>

namespace ge {

namespace {

std::string_view view(const AscendString& text) { return {text.GetString(), text.GetLength()}; }

}  // namespace

AscendString::AscendString(const char* name)
    : name_(name ? std::make_shared<std::string>(name) : nullptr) {}
AscendString::AscendString(const char* name, size_t length)
    : name_(name ? std::make_shared<std::string>(name, length) : nullptr) {}

const char* AscendString::GetString() const { return name_ ? name_->c_str() : ""; }
size_t AscendString::GetLength() const { return name_ ? name_->size() : 0; }
size_t AscendString::Find(const AscendString& text) const { return view(*this).find(view(text)); }
size_t AscendString::Hash() const { return std::hash<std::string_view>()(view(*this)); }

bool AscendString::operator<(const AscendString& other) const { return view(*this) < view(other); }
bool AscendString::operator>(const AscendString& other) const { return other < *this; }
bool AscendString::operator<=(const AscendString& other) const { return !(other < *this); }
bool AscendString::operator>=(const AscendString& other) const { return !(*this < other); }
bool AscendString::operator==(const AscendString& other) const {
  return view(*this) == view(other);
}
bool AscendString::operator!=(const AscendString& other) const { return !(*this == other); }

}  // namespace ge
