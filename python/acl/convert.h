// SPDX-License-Identifier: Apache-2.0
// Conversion of Python values to C arguments and of C results to Python values; used by generated
// and hand-written wrappers. All functions need the GIL; those that return bool or a PyObject* set
// a Python exception when they return false or null.
//
// Rules, the same for every function (docs/pyacl.md):
// - Wrong count or type: TypeError with function, argument, what came, what was expected.
// - An int takes anything with __index__ (numpy integers, bool). It must fit the width of the C
//   type, else OverflowError; a negative int for an unsigned parameter is passed on in two's
//   complement, so that the C function answers with its documented code.
#pragma once

#include "stable_python.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace anynpu::pyacl {

// Functions without parameters ignore arguments: programs call acl.rt.synchronize_device(0), and
// pyACL accepts it.
inline constexpr Py_ssize_t kAnyCount = PY_SSIZE_T_MAX;

// A Python function: its name and how it is called.
struct Function {
  const char* name;       // "acl.rt.malloc"
  const char* signature;  // "(size, policy)"
  Py_ssize_t least;
  Py_ssize_t most;  // or kAnyCount

  bool takes(Py_ssize_t given) const {
    if (given >= least && given <= most) [[likely]]
      return true;
    return fail_count(given);
  }

 private:
  bool fail_count(Py_ssize_t given) const;
};

class Scratch;

// Where a value came from, for error messages; and scratch memory for what an argument needs
// besides its own storage.
struct ArgumentSource {
  const Function& function;
  int position;  // of the argument, from 0
  const char* argument;
  Scratch* scratch = nullptr;
  const char* key = nullptr;  // of a dict
  Py_ssize_t item = -1;       // of a list
  int selected = -1;          // which member of a union counts, where the struct does not say
};

// Sets TypeError: "... argument 'size' (1 of 2) is a str, expected an int". Returns false.
bool fail_type(const ArgumentSource& at, PyObject* from, const char* expected);

// Two list arguments of one item per tensor; sets ValueError and returns false when they differ.
bool same_length(const Function& self, const char* first, size_t first_length, const char* second,
                 size_t second_length);

namespace detail {
bool take_wide(const ArgumentSource& at, PyObject* from, bool is_signed, int bits, uint64_t* to);
bool take_double(const ArgumentSource& at, PyObject* from, double* to);
}  // namespace detail

// Integers of all widths.
template <typename T>
requires std::is_integral_v<T>
inline bool take(const ArgumentSource& at, PyObject* from, T* to) {
  if (PyLong_CheckExact(from)) [[likely]] {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(from, &overflow);
    if (overflow == 0 && std::in_range<T>(value)) [[likely]] {
      *to = static_cast<T>(value);
      return true;
    }
  }
  uint64_t value = 0;
  if (!detail::take_wide(at, from, std::is_signed_v<T>, 8 * sizeof(T), &value)) return false;
  *to = static_cast<T>(value);
  return true;
}

template <typename T>
requires std::is_enum_v<T>
inline bool take(const ArgumentSource& at, PyObject* from, T* to) {
  int32_t value = 0;
  if (!take(at, from, &value)) return false;
  *to = static_cast<T>(value);
  return true;
}

inline bool take(const ArgumentSource& at, PyObject* from, float* to) {
  double value = 0;
  if (!detail::take_double(at, from, &value)) return false;
  *to = static_cast<float>(value);
  return true;
}

inline bool take(const ArgumentSource& at, PyObject* from, double* to) {
  return detail::take_double(at, from, to);
}

// Addresses and handles.
inline bool take(const ArgumentSource& at, PyObject* from, void** to) {
  uint64_t value = 0;
  if (!take(at, from, &value)) return false;
  *to = reinterpret_cast<void*>(value);
  return true;
}

inline bool take(const ArgumentSource& at, PyObject* from, unsigned char** to) {
  uint64_t value = 0;
  if (!take(at, from, &value)) return false;
  *to = reinterpret_cast<unsigned char*>(value);
  return true;
}

// Text; the bytes belong to `from`. Text with a NUL inside is refused.
bool take(const ArgumentSource& at, PyObject* from, const char** to);

// None, where the document allows a null.
template <typename T>
inline bool take_or_null(const ArgumentSource& at, PyObject* from, T* to) {
  if (from == Py_None) {
    *to = T{};
    return true;
  }
  return take(at, from, to);
}

// A struct that may be left out with None or 0; *to points at its storage and becomes null.
template <typename T>
requires std::is_class_v<T> || std::is_union_v<T>
inline bool take_or_null(const ArgumentSource& at, PyObject* from, T** to) {
  if (from == Py_None || (PyLong_Check(from) && PyObject_Not(from) == 1)) {
    *to = nullptr;
    return true;
  }
  return take(at, from, *to);
}

// From an int that holds an address to a typed pointer.
template <typename T>
inline T as(void* pointer) {
  return reinterpret_cast<T>(pointer);
}
template <typename T>
inline T as(const void* pointer) {
  return reinterpret_cast<T>(const_cast<void*>(pointer));
}

// Values for Python. Null means an exception is set.
template <typename T>
requires std::is_integral_v<T>
inline PyObject* to_python(T value) {
  if constexpr (std::is_signed_v<T>)
    return PyLong_FromLongLong(value);
  else
    return PyLong_FromUnsignedLongLong(value);
}
template <typename T>
requires std::is_enum_v<T>
inline PyObject* to_python(T value) { return PyLong_FromLong(static_cast<long>(value)); }
inline PyObject* to_python(float value) { return PyFloat_FromDouble(value); }
inline PyObject* to_python(double value) { return PyFloat_FromDouble(value); }
inline PyObject* to_python(const void* address) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<uint64_t>(address));
}
inline PyObject* to_python(const char* text) {
  if (text == nullptr) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(__builtin_strlen(text)), "replace");
}
inline PyObject* to_python(PyObject* object) { return object; }  // takes the reference

// C structs become dicts; the generated wrappers specialise this for each struct of structs.tsv.
template <typename T>
struct ToDict;
template <typename T>
requires requires(const T& from) { ToDict<T>::make(from); }
inline PyObject* to_python(const T& from) { return ToDict<T>::make(from); }

// What a wrapper returns: one value, or a tuple of several.
template <typename T>
inline PyObject* give(const T& value) {
  return to_python(value);
}
template <typename... T>
requires(sizeof...(T) > 1) inline PyObject* give(const T&... values) {
  std::array<PyObject*, sizeof...(T)> items{to_python(values)...};
  PyObject* tuple = PyTuple_New(sizeof...(T));
  bool ok = tuple != nullptr;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] == nullptr) ok = false;
    if (tuple != nullptr)
      PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), items[i]);
    else
      Py_XDECREF(items[i]);
  }
  if (ok) [[likely]]
    return tuple;
  Py_XDECREF(tuple);
  return nullptr;
}

inline PyCFunction as_method(PyObject* (*wrapper)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(wrapper));
}

}  // namespace anynpu::pyacl

#include "acl/containers.h"
#include "acl/gil.h"
