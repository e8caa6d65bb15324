// SPDX-License-Identifier: Apache-2.0
// Lists as recipes use them: an item that is not there refuses the call. So a recipe that needs the
// last axis, the second entry of an array or the first of its tensors checks nothing itself. A list
// that would grow past kMostItems refuses the call too: an argument of a few bytes can ask for a
// table of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace anynpu::aclnn {

// Throws the refusal of a list of `count` items that is asked for item `index`.
[[noreturn]] void refuse_item(size_t index, size_t count);

constexpr int64_t kMostItems = int64_t{1} << 25;
// Throws the refusal of a table of `count` items if that is more than kMostItems.
void check_items(int64_t count);

template <typename T>
class CheckedList : public std::vector<T> {
  using Base = std::vector<T>;

 public:
  using Base::Base;
  CheckedList(const Base& list) : Base(list) {}        // NOLINT: implicit by design
  CheckedList(Base&& list) : Base(std::move(list)) {}  // NOLINT

  const Base& plain() const { return *this; }  // for messages

  T& operator[](size_t index) { return Base::operator[](checked(index)); }
  const T& operator[](size_t index) const { return Base::operator[](checked(index)); }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[this->size() - 1]; }
  const T& back() const { return (*this)[this->size() - 1]; }
  void push_back(const T& item) {
    check_items(static_cast<int64_t>(this->size()) + 1);
    Base::push_back(item);
  }
  void pop_back() {
    (void)checked(this->size() - 1);
    Base::pop_back();
  }

 private:
  size_t checked(size_t index) const {
    if (index >= this->size()) refuse_item(index, this->size());
    return index;
  }
};

}  // namespace anynpu::aclnn
