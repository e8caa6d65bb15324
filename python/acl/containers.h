// SPDX-License-Identifier: Apache-2.0
// Lists, text buffers and dicts between Python and C. Included by convert.h.
#pragma once

#include "stable_python.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "acl/convert.h"

namespace anynpu::pyacl {

// Memory that lives as long as one call, freed with free(), GIL or not.
class Scratch {
 public:
  // A copy of n items; null (with an exception set) when there is no memory.
  template <typename T>
  T* keep(const T* items, size_t n) {
    auto* copy = static_cast<T*>(std::malloc(std::max<size_t>(n, 1) * sizeof(T)));
    if (copy == nullptr) {
      PyErr_NoMemory();
      return nullptr;
    }
    std::copy_n(items, n, copy);
    blocks_.emplace_back(copy, std::free);
    return copy;
  }

 private:
  std::vector<std::unique_ptr<void, void (*)(void*)>> blocks_;
};

// Items of a C array, a few of them without an allocation. Freed with free(), GIL or not.
template <typename T>
class List {
 public:
  List() = default;
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() {
    if (items_ != inline_) std::free(items_);
  }

  T* data() { return items_; }
  size_t size() const { return size_; }
  // The size as the C function's type; lists longer than that never got through take().
  template <typename Count>
  Count count() const {
    return static_cast<Count>(size_);
  }

  // n zeroed items; false when there is no memory.
  bool resize(size_t n) {
    if (n > kInline) {
      items_ = static_cast<T*>(std::calloc(n, sizeof(T)));
      if (items_ == nullptr) {
        items_ = inline_;
        PyErr_NoMemory();
        return false;
      }
    }
    size_ = n;
    return true;
  }

  // For an array that C fills; the caller of the Python function chose its length.
  bool reserve(const Function& self, const char* argument, size_t n, size_t most) {
    if (n <= most) return resize(n);
    PyErr_Format(PyExc_ValueError, "%s: argument '%s' is %zu, expected at most %zu", self.name,
                 argument, n, most);
    return false;
  }

  // The addresses of all items.
  template <typename P>
  bool point_with(List<P>& pointers) {
    if (!pointers.resize(size_)) return false;
    for (size_t i = 0; i < size_; ++i) pointers.data()[i] = &items_[i];
    return true;
  }

  // The first n items, for give().
  PyObject* first(size_t n) const;

 private:
  static constexpr size_t kInline = sizeof(T) <= 16 ? 16 : 1;

  T inline_[kInline] = {};
  T* items_ = inline_;
  size_t size_ = 0;
};

// A buffer that C fills with text.
class Text : public List<char> {};

// A sequence (list, tuple, array) other than text. Iterates safely even if converting an item runs
// Python code that changes it.
template <typename T>
bool take(const ArgumentSource& at, PyObject* from, List<T>* to) {
  if (!PySequence_Check(from) || PyUnicode_Check(from) || PyBytes_Check(from) ||
      PyByteArray_Check(from))
    return fail_type(at, from, "a list");
  PyObject* items = PySequence_Fast(from, "not a sequence");
  if (items == nullptr) {
    PyErr_Clear();
    return fail_type(at, from, "a list");
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(items);
  bool ok = n <= std::numeric_limits<int32_t>::max();
  if (!ok)
    PyErr_Format(PyExc_ValueError, "%s: argument '%s' has too many items (%zd)", at.function.name,
                 at.argument, n);
  ok = ok && to->resize(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; ok && i < n && i < PySequence_Fast_GET_SIZE(items); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(items, i);
    Py_INCREF(item);
    ArgumentSource place = at;
    place.item = i;
    ok = take(place, item, &to->data()[i]);
    Py_DECREF(item);
  }
  Py_DECREF(items);
  return ok;
}

// Exactly N items into a fixed array, such as one [low, high] pair.
template <typename T, size_t N>
bool take(const ArgumentSource& at, PyObject* from, std::array<T, N>* to) {
  List<T> items;
  if (!take(at, from, &items)) return false;
  if (items.size() != N) {
    PyErr_Format(PyExc_ValueError, "%s: argument '%s', item %zd has %zu values, expected %zu",
                 at.function.name, at.argument, at.item, items.size(), N);
    return false;
  }
  std::copy_n(items.data(), N, to->begin());
  return true;
}

// For arrays whose length is given by another argument: its value, or the sum of its items.
inline size_t items_named(size_t count) { return count; }
inline size_t items_named(List<uint32_t>& counts) {
  size_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) sum += counts.data()[i];
  return sum;
}
inline bool has_items(const Function& self, const char* argument, size_t given, size_t needed) {
  if (given >= needed) return true;
  PyErr_Format(PyExc_ValueError, "%s: argument '%s' has %zu items, expected %zu", self.name,
               argument, given, needed);
  return false;
}

template <typename T>
bool take_one_or_list(const ArgumentSource& at, PyObject* from, List<T>* to) {
  if (!PyIndex_Check(from) || PySequence_Check(from)) return take(at, from, to);
  return to->resize(1) && take(at, from, to->data());
}

// Arrays of a struct as Python lists.
template <typename T>
PyObject* list_of(const T* items, size_t n) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(n));
  for (size_t i = 0; list != nullptr && i < n; ++i) {
    PyObject* item;
    if constexpr (std::is_array_v<T>)
      item = list_of(items[i], std::extent_v<T>);
    else
      item = to_python(items[i]);
    if (item == nullptr) {
      Py_CLEAR(list);
    } else {
      PyList_SetItem(list, static_cast<Py_ssize_t>(i), item);
    }
  }
  return list;
}

template <typename T>
PyObject* List<T>::first(size_t n) const {
  return list_of(items_, std::min(n, size_));
}
template <typename T>
PyObject* to_python(const List<T>& list) {
  return list.first(list.size());
}
// Up to the first NUL, or all of it when C wrote none.
inline PyObject* to_python(const Text& text) {
  const char* begin = const_cast<Text&>(text).data();
  const auto length = static_cast<Py_ssize_t>(strnlen(begin, text.size()));
  return PyUnicode_DecodeUTF8(begin, length, "replace");
}

template <typename T, size_t N>
PyObject* first_items(const T (&items)[N], size_t n) {
  return list_of(items, std::min(n, N));
}
template <typename T>
PyObject* first_items(T* const& items, size_t n) {
  return list_of(items, items != nullptr ? n : 0);
}
template <size_t N>
PyObject* raw_bytes(const char (&bytes)[N]) {
  return PyBytes_FromStringAndSize(bytes, N);
}
template <typename T, size_t N>
PyObject* to_python(const T (&items)[N]) {
  if constexpr (std::is_same_v<T, char>)
    return PyUnicode_DecodeUTF8(items, static_cast<Py_ssize_t>(strnlen(items, N)), "replace");
  else
    return list_of(items, N);
}

// Reads the fields of a C struct from a dict. A missing key leaves the field zero; other keys are
// ignored, as pyACL does.
class DictReader {
 public:
  DictReader(const ArgumentSource& at, PyObject* dict) : at_(at), dict_(dict) {}

  bool is_dict() const { return PyDict_Check(dict_) || fail_type(at_, dict_, "a dict"); }

  template <typename T>
  bool read(const char* key, T* to) const {
    PyObject* value = find(key);
    if (value == nullptr) return !PyErr_Occurred();
    const bool ok = read_value(inner(key), value, to);
    Py_DECREF(value);
    return ok;
  }

  // A list of structs behind a pointer; kept in the scratch of the call.
  template <typename T, typename Count>
  bool read_array(const char* key, T** to, Count* count) const {
    PyObject* value = find(key);
    if (value == nullptr) return !PyErr_Occurred();
    List<T> items;
    const bool ok = take(inner(key), value, &items);
    Py_DECREF(value);
    if (!ok) return false;
    *to = at_.scratch->keep(items.data(), items.size());
    *count = static_cast<Count>(items.size());
    return *to != nullptr;
  }

 private:
  ArgumentSource inner(const char* key) const {
    ArgumentSource place = at_;
    place.key = key;
    return place;
  }
  PyObject* find(const char* key) const {  // a new reference; null without an exception: missing
    PyObject* name = PyUnicode_FromString(key);
    if (name == nullptr) return nullptr;
    PyObject* value = PyDict_GetItemWithError(dict_, name);
    Py_DECREF(name);
    Py_XINCREF(value);
    return value;
  }

  template <typename T>
  static bool read_value(const ArgumentSource& at, PyObject* from, T* to) {
    return take(at, from, to);
  }
  template <size_t N>
  static bool read_value(const ArgumentSource& at, PyObject* from, char (*to)[N]) {
    const char* text = nullptr;
    if (!take(at, from, &text)) return false;
    if (std::strlen(text) >= N) {
      PyErr_Format(PyExc_ValueError, "%s: argument '%s', key '%s' is longer than %zu bytes",
                   at.function.name, at.argument, at.key, N - 1);
      return false;
    }
    std::strncpy(*to, text, N);
    return true;
  }
  template <typename T, size_t N, size_t M>
  static bool read_value(const ArgumentSource& at, PyObject* from, T (*to)[N][M]) {
    if (!PySequence_Check(from)) return fail_type(at, from, "a list of lists");
    const Py_ssize_t rows = PySequence_Size(from);
    for (Py_ssize_t i = 0; i < rows && i < static_cast<Py_ssize_t>(N); ++i) {
      PyObject* row = PySequence_GetItem(from, i);
      const bool ok = row != nullptr && read_value(at, row, &(*to)[i]);
      Py_XDECREF(row);
      if (!ok) return false;
    }
    return rows >= 0;
  }
  template <typename T, size_t N>
  static bool read_value(const ArgumentSource& at, PyObject* from, T (*to)[N]) {
    List<T> items;
    if (!take(at, from, &items)) return false;
    if (items.size() > N) {
      PyErr_Format(PyExc_ValueError,
                   "%s: argument '%s', key '%s' has %zu items, expected at most %zu",
                   at.function.name, at.argument, at.key, items.size(), N);
      return false;
    }
    std::copy_n(items.data(), items.size(), *to);
    return true;
  }

  ArgumentSource at_;
  PyObject* dict_;
};

// Builds a dict; the first failure wins and finish() then returns null.
class DictWriter {
 public:
  DictWriter() : dict_(PyDict_New()) {}

  template <typename T>
  void add(const char* key, const T& value) {
    PyObject* item = dict_ != nullptr ? to_python(value) : nullptr;
    if (item == nullptr || PyDict_SetItemString(dict_, key, item) != 0) Py_CLEAR(dict_);
    Py_XDECREF(item);
  }
  PyObject* finish() { return std::exchange(dict_, nullptr); }

 private:
  PyObject* dict_;
};

}  // namespace anynpu::pyacl
