// SPDX-License-Identifier: Apache-2.0
#include "acl/convert.h"

namespace anynpu::pyacl {

bool Function::fail_count(Py_ssize_t given) const {
  const char* plural = most == 1 ? "" : "s";
  if (least == most)
    PyErr_Format(PyExc_TypeError, "%s%s takes %zd argument%s, %zd given", name, signature, most,
                 plural, given);
  else
    PyErr_Format(PyExc_TypeError, "%s%s takes %zd to %zd arguments, %zd given", name, signature,
                 least, most, given);
  return false;
}

namespace {

// "argument 'dims' (4 of 4), key 'dimCount'", as a new str.
PyObject* describe(const ArgumentSource& at) {
  PyObject* text = PyUnicode_FromFormat("argument '%s' (%d of %zd)", at.argument, at.position + 1,
                                        at.function.most);
  if (text != nullptr && at.key != nullptr)
    PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat(", key '%s'", at.key));
  if (text != nullptr && at.item >= 0)
    PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat(", item %zd", at.item));
  return text;
}

bool fail_range(const ArgumentSource& at, PyObject* value, bool is_signed, int bits) {
  PyObject* place = describe(at);
  if (place == nullptr) return false;
  // A parameter of n unsigned bits also takes the negative numbers of n signed bits.
  const char* least = bits == 64   ? "-2**63"
                      : bits == 32 ? "-2**31"
                      : bits == 16 ? "-2**15"
                                   : "-2**7";
  PyErr_Format(PyExc_OverflowError, "%s: %U is %.40R, expected %s to 2**%d-1", at.function.name,
               place, value, least, is_signed ? bits - 1 : bits);
  Py_DECREF(place);
  return false;
}

// "str", "numpy.ndarray", as a new str.
PyObject* type_name(PyObject* object) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  PyObject* name = PyObject_GetAttrString(type, "__name__");
  PyObject* module = name != nullptr ? PyObject_GetAttrString(type, "__module__") : nullptr;
  if (module != nullptr && PyUnicode_Check(module) &&
      PyUnicode_CompareWithASCIIString(module, "builtins") != 0 &&
      PyUnicode_CompareWithASCIIString(module, "__main__") != 0) {
    PyObject* whole = PyUnicode_FromFormat("%U.%U", module, name);
    Py_DECREF(name);
    name = whole;
  }
  Py_XDECREF(module);
  return name;
}

}  // namespace

bool same_length(const Function& self, const char* first, size_t first_length, const char* second,
                 size_t second_length) {
  if (first_length == second_length) return true;
  PyErr_Format(PyExc_ValueError, "%s: '%s' has %zu items and '%s' %zu, expected as many", self.name,
               first, first_length, second, second_length);
  return false;
}

bool fail_type(const ArgumentSource& at, PyObject* from, const char* expected) {
  PyObject* place = describe(at);
  if (place == nullptr) return false;
  if (from == Py_None) {
    PyErr_Format(PyExc_TypeError, "%s: %U is None, expected %s", at.function.name, place, expected);
  } else if (PyObject* type = type_name(from)) {
    PyErr_Format(PyExc_TypeError, "%s: %U is of type %.100U, expected %s", at.function.name, place,
                 type, expected);
    Py_DECREF(type);
  }
  Py_DECREF(place);
  return false;
}

bool detail::take_wide(const ArgumentSource& at, PyObject* from, bool is_signed, int bits,
                       uint64_t* to) {
  if (!PyIndex_Check(from)) return fail_type(at, from, "an int");
  PyObject* number = PyNumber_Index(from);
  if (number == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    PyErr_Clear();  // an array of several values has __index__, and refuses here
    return fail_type(at, from, "an int");
  }
  int overflow = 0;
  const long long narrow = PyLong_AsLongLongAndOverflow(number, &overflow);
  bool fits;
  if (overflow == 0) {
    const long long least = bits == 64 ? INT64_MIN : -(1LL << (bits - 1));
    const long long most = bits == 64 ? INT64_MAX : (1LL << (is_signed ? bits - 1 : bits)) - 1;
    fits = narrow >= least && narrow <= most;
    *to = static_cast<uint64_t>(narrow);
  } else {
    fits = overflow > 0 && !is_signed && bits == 64;
    if (fits) {
      *to = PyLong_AsUnsignedLongLong(number);
      if (PyErr_Occurred()) {
        PyErr_Clear();
        fits = false;
      }
    }
  }
  if (!fits) fail_range(at, number, is_signed, bits);
  Py_DECREF(number);
  return fits;
}

bool detail::take_double(const ArgumentSource& at, PyObject* from, double* to) {
  if (PyUnicode_Check(from) || !(PyFloat_Check(from) || PyNumber_Check(from)) ||
      PyComplex_Check(from))
    return fail_type(at, from, "a float");
  *to = PyFloat_AsDouble(from);
  if (*to != -1.0 || !PyErr_Occurred()) return true;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyErr_Clear();
  return fail_type(at, from, "a float");
}

bool take(const ArgumentSource& at, PyObject* from, const char** to) {
  if (!PyUnicode_Check(from)) return fail_type(at, from, "a str");
  Py_ssize_t size = 0;
  *to = PyUnicode_AsUTF8AndSize(from, &size);
  if (*to == nullptr) return false;
  if (std::strlen(*to) == static_cast<size_t>(size)) return true;
  PyErr_Format(PyExc_ValueError, "%s: argument '%s' (%d of %zd) has a null character inside",
               at.function.name, at.argument, at.position + 1, at.function.most);
  return false;
}

}  // namespace anynpu::pyacl
