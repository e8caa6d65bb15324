/* SPDX-License-Identifier: Apache-2.0 */
/* ge::AscendString: a shared text that crosses library boundaries whatever std::string is. */
#ifndef GRAPH_ASCEND_STRING_H_
#define GRAPH_ASCEND_STRING_H_

#include <cstddef>
#include <memory>
#include <string>

namespace ge {

class __attribute__((visibility("default"))) AscendString {
 public:
  AscendString() = default;
  ~AscendString() = default;
  AscendString(const char* name);  // NOLINT: implicit, as programs use it; null is ""
  AscendString(const char* name, size_t length);

  // "" for a text that was never set. Valid as long as a copy of this object lives.
  const char* GetString() const;
  size_t GetLength() const;
  // Where `text` begins; size_t(-1): nowhere.
  size_t Find(const AscendString& text) const;
  size_t Hash() const;

  bool operator<(const AscendString& other) const;
  bool operator>(const AscendString& other) const;
  bool operator<=(const AscendString& other) const;
  bool operator>=(const AscendString& other) const;
  bool operator==(const AscendString& other) const;
  bool operator!=(const AscendString& other) const;

 private:
  std::shared_ptr<std::string> name_;
};

}  // namespace ge

#endif
