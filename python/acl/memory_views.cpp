// SPDX-License-Identifier: Apache-2.0
// acl.util: addresses of Python objects, and Python objects over addresses. Nothing is copied but
// in ptr_to_bytes; keeping the object (or the memory) alive is the caller's part, as pyACL says.
// numpy is imported on first use, so that `import acl` does not need it.
#include "anynpu.h"
#include "wrappers.h"

namespace anynpu::pyacl {
namespace {

constexpr size_t kCopyWithoutGil = 1 << 20;

// numpy.<name>, a new reference.
PyObject* numpy_attribute(const char* name) {
  PyObject* numpy = PyImport_ImportModule("numpy");
  if (numpy == nullptr) return nullptr;
  PyObject* attribute = PyObject_GetAttrString(numpy, name);
  Py_DECREF(numpy);
  return attribute;
}

// The data type that a numpy type number names; null for numbers that pyACL does not list.
const char* numpy_type(int32_t number) {
  switch (number) {
    case 0:
      return "bool";
    case 1:
      return "int8";
    case 2:
      return "uint8";
    case 3:
      return "int16";
    case 4:
      return "uint16";
    case 5:
      return "int32";
    case 6:
      return "uint32";
    case 7:  // long and long long are the same here
    case 9:
      return "int64";
    case 8:
    case 10:
      return "uint64";
    case 11:
      return "float32";
    case 12:
      return "float64";
    case 14:
      return "complex64";
    case 15:
      return "complex128";
    case 23:
      return "float16";
    default:
      return nullptr;
  }
}

// An array and where its data is, through the interface that every numpy array has.
bool array_address(const ArgumentSource& at, PyObject* array, void** address, bool* contiguous) {
  Py_buffer view{};
  if (PyObject_CheckBuffer(array) && !PyBytes_Check(array) && !PyByteArray_Check(array) &&
      PyObject_GetBuffer(array, &view, PyBUF_STRIDED_RO) == 0) {
    *address = view.buf;
    *contiguous = PyBuffer_IsContiguous(&view, 'C') != 0;
    PyBuffer_Release(&view);
    return true;
  }
  PyErr_Clear();  // dates have no buffer, but an address all the same
  PyObject* interface = PyObject_GetAttrString(array, "__array_interface__");
  PyObject* data = interface != nullptr && PyDict_Check(interface)
                       ? PyDict_GetItemString(interface, "data")  // borrowed: (address, read-only)
                       : nullptr;
  bool ok = data != nullptr && PyTuple_Check(data) && PyTuple_Size(data) == 2;
  if (ok) {
    *address = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    PyObject* strides = PyDict_GetItemString(interface, "strides");
    *contiguous = strides == nullptr || strides == Py_None;
    ok = !PyErr_Occurred();
  }
  Py_XDECREF(interface);
  PyErr_Clear();
  return ok || fail_type(at, array, "a numpy array");
}

bool fail_unreadable(const Function& self, const void* address, size_t bytes) {
  PyErr_Format(
      PyExc_ValueError,
      "%s: the %zu bytes at %p cannot be read; pass an address of memory that is allocated "
      "and not freed, and at most its size",
      self.name, bytes, address);
  return false;
}

// A shape: an int, or a sequence of ints >= 0. Gives the number of elements.
bool take_shape(const ArgumentSource& at, PyObject* from, List<int64_t>* shape, size_t* elements) {
  if (!take_one_or_list(at, from, shape)) return false;
  *elements = 1;
  for (size_t i = 0; i < shape->size(); ++i) {
    const int64_t n = shape->data()[i];
    if (n < 0 || __builtin_mul_overflow(*elements, static_cast<size_t>(n), elements) ||
        *elements > static_cast<size_t>(PY_SSIZE_T_MAX)) {
      PyErr_Format(PyExc_ValueError, "%s: argument 'shape', item %zu is %lld, expected a size >= 0",
                   at.function.name, i, static_cast<long long>(n));
      return false;
    }
  }
  return true;
}

}  // namespace

namespace {

// The address of the storage of `owner`, for the program and for `anynpu check`.
PyObject* give_storage(PyObject* owner, const void* address) {
  anynpu_acl_note_buffer(owner, address);
  return give(address);
}

}  // namespace

// The address of the object's own storage: programs also write through it.
PyObject* util_bytes_to_ptr(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::util_bytes_to_ptr;
  if (!self.takes(argc)) return nullptr;
  if (PyBytes_Check(argv[0])) return give_storage(argv[0], PyBytes_AsString(argv[0]));
  if (PyByteArray_Check(argv[0])) return give_storage(argv[0], PyByteArray_AsString(argv[0]));
  fail_type({self, 0, "bytes_data"}, argv[0], "bytes");
  return nullptr;
}

PyObject* util_ptr_to_bytes(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::util_ptr_to_bytes;
  if (!self.takes(argc)) return nullptr;
  void* ptr{};
  size_t size{};
  if (!take({self, 0, "ptr"}, argv[0], &ptr) || !take({self, 1, "size"}, argv[1], &size))
    return nullptr;
  if (size > static_cast<size_t>(PY_SSIZE_T_MAX) ||
      (size != 0 && anynpu_probe_readable(ptr, size) == 0)) {
    fail_unreadable(self, ptr, size);
    return nullptr;
  }
  PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
  if (bytes == nullptr || size == 0) return bytes;
  char* to = PyBytes_AsString(bytes);
  if (size < kCopyWithoutGil)
    std::memcpy(to, ptr, size);
  else
    without_gil([&] { std::memcpy(to, ptr, size); });
  return bytes;
}

PyObject* util_numpy_to_ptr(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::util_numpy_to_ptr;
  if (!self.takes(argc)) return nullptr;
  void* address = nullptr;
  bool contiguous = true;
  if (!array_address({self, 0, "np_data"}, argv[0], &address, &contiguous)) return nullptr;
  if (!contiguous &&
      PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                       "%s: the array is not C-contiguous, so memory at its address is in another "
                       "order; use acl.util.numpy_contiguous_to_ptr",
                       self.name) != 0)
    return nullptr;
  return give_storage(argv[0], address);
}

PyObject* util_numpy_contiguous_to_ptr(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::util_numpy_contiguous_to_ptr;
  if (!self.takes(argc)) return nullptr;
  const ArgumentSource at{self, 0, "np_data"};
  void* address = nullptr;
  bool contiguous = false;
  if (!array_address(at, argv[0], &address, &contiguous)) return nullptr;
  Py_INCREF(argv[0]);
  PyObject* array = argv[0];
  if (!contiguous) {
    Py_DECREF(argv[0]);
    PyObject* convert = numpy_attribute("ascontiguousarray");
    array = convert != nullptr ? PyObject_CallFunctionObjArgs(convert, argv[0], nullptr) : nullptr;
    Py_XDECREF(convert);
    if (array == nullptr) return nullptr;
    if (!array_address(at, array, &address, &contiguous)) {
      Py_DECREF(array);
      return nullptr;
    }
  }
  anynpu_acl_note_buffer(array, address);
  return give(static_cast<const void*>(address), array);
}

PyObject* util_ptr_to_numpy(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::util_ptr_to_numpy;
  if (!self.takes(argc)) return nullptr;
  void* ptr{};
  List<int64_t> shape;
  size_t elements{};
  int32_t type_number{};
  if (!take({self, 0, "ptr"}, argv[0], &ptr) ||
      !take_shape({self, 1, "shape"}, argv[1], &shape, &elements) ||
      !take({self, 2, "np_type"}, argv[2], &type_number))
    return nullptr;
  const char* type_name = numpy_type(type_number);
  if (type_name == nullptr) {
    PyErr_Format(PyExc_ValueError,
                 "%s: argument 'np_type' is %d, which is no number of a numpy type "
                 "(0 bool, 1 int8, 2 uint8, ..., 11 float32, 12 float64, 23 float16)",
                 self.name, static_cast<int>(type_number));
    return nullptr;
  }

  PyObject* result = nullptr;
  PyObject* memory = nullptr;
  PyObject* ndarray = nullptr;
  PyObject* make_type = numpy_attribute("dtype");
  PyObject* dtype = make_type ? PyObject_CallFunction(make_type, "s", type_name) : nullptr;
  PyObject* item_size = dtype ? PyObject_GetAttrString(dtype, "itemsize") : nullptr;
  size_t bytes = item_size ? PyLong_AsSize_t(item_size) : 0;
  bool ok = item_size != nullptr && !PyErr_Occurred();
  if (ok && (__builtin_mul_overflow(bytes, elements, &bytes) ||
             bytes > static_cast<size_t>(PY_SSIZE_T_MAX) ||
             (bytes != 0 && anynpu_probe_readable(ptr, bytes) == 0)))
    ok = fail_unreadable(self, ptr, bytes);
  if (ok)
    memory = PyMemoryView_FromMemory(bytes != 0 ? static_cast<char*>(ptr) : nullptr,
                                     static_cast<Py_ssize_t>(bytes), PyBUF_WRITE);
  if (memory != nullptr) ndarray = numpy_attribute("ndarray");
  if (ndarray != nullptr) result = PyObject_CallFunction(ndarray, "OOO", argv[1], dtype, memory);
  Py_XDECREF(ndarray);
  Py_XDECREF(memory);
  Py_XDECREF(item_size);
  Py_XDECREF(dtype);
  Py_XDECREF(make_type);
  return result;
}

}  // namespace anynpu::pyacl
