// SPDX-License-Identifier: Apache-2.0
// Python's stable ABI (PEP 384): an extension module compiled once loads in every Python from 3.9
// on. What the limited API got after 3.9 but every Python since 3.9 exports with the same signature
// and the same layout is declared here; docs/decisions/0020-wheel.md has the list and the times.
#pragma once

#define Py_LIMITED_API 0x03090000
#include <Python.h>

extern "C" {

// In the limited API since 3.10.
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif
const char* PyUnicode_AsUTF8AndSize(PyObject* text, Py_ssize_t* size);
int PyFrame_GetLineNumber(PyFrameObject* frame);
PyCodeObject* PyFrame_GetCode(PyFrameObject* frame);

// In the limited API since 3.11: the buffer protocol. The layout is that of Python 3.0.
#ifndef PyBUF_SIMPLE
struct Py_buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};
#define PyBUF_SIMPLE 0
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)
#define PyBUF_STRIDED_RO PyBUF_STRIDES
#define PyBUF_WRITE 0x200
#define Py_bf_getbuffer 1
#define Py_bf_releasebuffer 2
int PyObject_CheckBuffer(PyObject* object);
int PyObject_GetBuffer(PyObject* object, Py_buffer* view, int flags);
int PyBuffer_IsContiguous(const Py_buffer* view, char order);
int PyBuffer_ToContiguous(void* buffer, const Py_buffer* view, Py_ssize_t size, char order);
void PyBuffer_Release(Py_buffer* view);
#endif

// Never in the limited API.
PyFrameObject* PyFrame_GetBack(PyFrameObject* frame);
int PyGILState_Check(void);
__attribute__((weak)) int Py_IsFinalizing(void);   // since 3.13
__attribute__((weak)) int _Py_IsFinalizing(void);  // before

}  // extern "C"

// Macros of the full API: the result of PySequence_Fast is a list or a tuple.
#undef PySequence_Fast_GET_SIZE
#undef PySequence_Fast_GET_ITEM
inline Py_ssize_t PySequence_Fast_GET_SIZE(PyObject* items) { return PySequence_Size(items); }
inline PyObject* PySequence_Fast_GET_ITEM(PyObject* items, Py_ssize_t i) {  // borrowed
  return PyList_Check(items) ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
}

// "co_name" or "co_filename" of code in UTF-8, null if it is none; the text lives as long as
// `code`.
inline const char* code_text(PyCodeObject* code, const char* attribute) {
  PyObject* text = PyObject_GetAttrString(reinterpret_cast<PyObject*>(code), attribute);
  const char* utf8 = text != nullptr ? PyUnicode_AsUTF8AndSize(text, nullptr) : nullptr;
  Py_XDECREF(text);
  PyErr_Clear();
  return utf8;
}
