// SPDX-License-Identifier: Apache-2.0
// aclruntime.Tensor: an array on the host, readable and writable through the buffer protocol, or on
// a device.
#include <cstring>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "aclruntime/python_types.h"
#include "aclruntime/runtime.h"

namespace anynpu::aclruntime {

namespace {

struct TensorObject {
  PyObject_HEAD Tensor* tensor;
};

PyTypeObject* tensor_type = nullptr;
PyObject* dtype_enum = nullptr;
PyObject* place_enum = nullptr;

struct Format {
  const char* letters;  // of the struct module that mean this type on this machine
  aclDataType dtype;
};
constexpr Format kFormats[] = {
    {"f", ACL_FLOAT},  {"e", ACL_FLOAT16}, {"b", ACL_INT8},   {"i", ACL_INT32},  {"B", ACL_UINT8},
    {"h", ACL_INT16},  {"H", ACL_UINT16},  {"I", ACL_UINT32}, {"lq", ACL_INT64}, {"LQ", ACL_UINT64},
    {"d", ACL_DOUBLE}, {"?", ACL_BOOL},    {"H", ACL_BF16},  // numpy has no such type: its bits
};

const char* letter_of(aclDataType dtype) {
  static thread_local char text[2];
  for (const Format& format : kFormats) {
    if (format.dtype != dtype) continue;
    text[0] = format.letters[0];
    return text;
  }
  return "B";
}

bool dtype_of(const char* format, aclDataType& dtype) {
  if (format == nullptr) {
    dtype = ACL_UINT8;
    return true;
  }
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == '\0' || format[1] != '\0') return false;
  for (const Format& known : kFormats) {
    if (std::strchr(known.letters, *format) == nullptr) continue;
    dtype = known.dtype;
    return true;
  }
  return false;
}

Tensor& of(PyObject* self) { return *reinterpret_cast<TensorObject*>(self)->tensor; }

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* source;
  if (!PyArg_ParseTuple(args, "O:Tensor", &source)) return nullptr;
  Py_buffer view;
  if (PyObject_GetBuffer(source, &view, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) return nullptr;
  Tensor tensor;
  if (!dtype_of(view.format, tensor.dtype)) {
    PyErr_Format(PyExc_TypeError,
                 "Tensor cannot hold elements of the format '%s'; convert the array to one of "
                 "int8..int64, uint8..uint64, float16, float32, float64 or bool in native order",
                 view.format);
    PyBuffer_Release(&view);
    return nullptr;
  }
  tensor.bytes = static_cast<size_t>(view.len);
  tensor.shape.assign(view.shape, view.shape + view.ndim);
  tensor.host = HostMemory::allocate(tensor.bytes);
  int failed = tensor.host ? 0 : -1;
  if (failed != 0) PyErr_NoMemory();
  if (failed == 0 && view.len != 0) {
    failed = PyBuffer_ToContiguous(tensor.host->data(), &view, view.len, 'C');
  }
  PyBuffer_Release(&view);
  if (failed != 0) return nullptr;
  PyObject* made = PyType_GenericAlloc(type, 0);
  if (made != nullptr) {
    reinterpret_cast<TensorObject*>(made)->tensor = new Tensor(std::move(tensor));
  }
  return made;
}

void tensor_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<TensorObject*>(self)->tensor;
  free_object(self);
  Py_DECREF(type);
}

// -- buffer protocol: a view holds the memory, so that a tensor may move while views exist --------

struct View {
  std::shared_ptr<HostMemory> memory;
  std::vector<Py_ssize_t> shape, strides;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Tensor& tensor = of(self);
  if (tensor.place != TensorMemory::host) {
    PyErr_Format(PyExc_BufferError,
                 "tensor is in npu (device %d); call to_host() before reading it on the host",
                 tensor.device_id());
    view->obj = nullptr;
    return -1;
  }
  auto* kept = new View{tensor.host, {tensor.shape.begin(), tensor.shape.end()}, {}};
  kept->strides.resize(kept->shape.size());
  const auto item = static_cast<Py_ssize_t>(aclDataTypeSize(tensor.dtype));
  Py_ssize_t step = item;
  for (size_t i = kept->shape.size(); i-- > 0;) {
    kept->strides[i] = step;
    step *= kept->shape[i];
  }
  view->buf = tensor.host->data();
  view->len = static_cast<Py_ssize_t>(tensor.bytes);
  view->itemsize = item;
  view->readonly = 0;
  view->ndim = static_cast<int>(kept->shape.size());
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(letter_of(tensor.dtype)) : nullptr;
  view->shape = flags & PyBUF_ND ? kept->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? kept->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = kept;
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<View*>(view->internal); }

// numpy passes over a refused buffer in silence; this one it asks next, and heeds.
PyObject* array_of(PyObject* self, PyObject* args) {
  PyObject* dtype = Py_None;
  if (!PyArg_ParseTuple(args, "|O", &dtype)) return nullptr;
  PyObject* view = PyMemoryView_FromObject(self);
  if (view == nullptr) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_XDECREF(type);
    Py_INCREF(PyExc_RuntimeError);
    PyErr_Restore(PyExc_RuntimeError, value, trace);
    return nullptr;
  }
  PyObject* numpy = PyImport_ImportModule("numpy");
  PyObject* array = numpy ? PyObject_CallMethod(numpy, "asarray", "OO", view, dtype) : nullptr;
  Py_XDECREF(numpy);
  Py_DECREF(view);
  return array;
}

// -- moves and attributes
// --------------------------------------------------------------------------

PyObject* to_host(PyObject* self, PyObject*) {
  return none_or_raise(without_gil([&]() -> Failure {
    Tensor& tensor = of(self);
    if (tensor.place == TensorMemory::host) return {};
    if (Failure failure = use_device(tensor.device_id())) return failure;
    return move_to_host(tensor);
  }));
}

PyObject* move(PyObject* self, PyObject* args, TensorMemory place) {
  int device;
  if (!PyArg_ParseTuple(args, "i", &device)) return nullptr;
  return none_or_raise(without_gil([&]() -> Failure {
    uint32_t count = 0;
    if (aclrtGetDeviceCount(&count) != ACL_SUCCESS || device < 0 ||
        static_cast<uint32_t>(device) >= count) {
      return {kBadArgument, "device " + std::to_string(device) + " does not exist; there are " +
                                std::to_string(count) + ", numbered from 0"};
    }
    return move_to_device(of(self), device, place);
  }));
}

PyObject* to_device(PyObject* self, PyObject* args) {
  return move(self, args, TensorMemory::device);
}
PyObject* to_dvpp(PyObject* self, PyObject* args) { return move(self, args, TensorMemory::dvpp); }

PyObject* member(PyObject* type, long value) {
  if (type == nullptr) return PyLong_FromLong(value);
  return PyObject_CallFunction(type, "l", value);
}

PyObject* get_shape(PyObject* self, void*) { return int_list(of(self).shape); }
PyObject* get_dtype(PyObject* self, void*) { return member(dtype_enum, of(self).dtype); }
PyObject* get_device(PyObject* self, void*) { return PyLong_FromLong(of(self).device_id()); }
PyObject* get_type(PyObject* self, void*) {
  return member(place_enum, static_cast<long>(of(self).place));
}

PyObject* text(PyObject* self) {
  PyObject* shape = get_shape(self, nullptr);
  PyObject* dtype = get_dtype(self, nullptr);
  PyObject* made = nullptr;
  if (shape != nullptr && dtype != nullptr) {
    made = PyUnicode_FromFormat("<Tensor>\nshape:%S\ndtype:%S\ndevice:%d", shape, dtype,
                                of(self).device_id());
  }
  Py_XDECREF(shape);
  Py_XDECREF(dtype);
  return made;
}

PyMethodDef methods[] = {
    {"to_host", to_host, METH_NOARGS, "Moves the data to the host."},
    {"to_device", to_device, METH_VARARGS, "Moves the data to a device that has a session."},
    {"to_dvpp", to_dvpp, METH_VARARGS, "Moves the data where the picture engines can use it."},
    {"__array__", array_of, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"shape", get_shape, nullptr, "list of ints", nullptr},
    {"dtype", get_dtype, nullptr, "aclruntime.dtype", nullptr},
    {"device", get_device, nullptr, "the device, -1 on the host", nullptr},
    {"type", get_type, nullptr, "aclruntime.type: where the memory is", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <typename Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

PyType_Slot slots[] = {
    {Py_tp_new, slot(tensor_new)},
    {Py_tp_dealloc, slot(tensor_dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_repr, slot(text)},
    {Py_tp_str, slot(text)},
    {Py_bf_getbuffer, slot(get_buffer)},
    {Py_bf_releasebuffer, slot(release_buffer)},
    {0, nullptr},
};

PyType_Spec spec = {"aclruntime.Tensor", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool add_tensor_type(PyObject* module) {
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (tensor_type == nullptr) return false;
  Py_INCREF(tensor_type);  // one for the module, one for us
  return PyModule_AddObject(module, "Tensor", reinterpret_cast<PyObject*>(tensor_type)) == 0;
}

PyObject* set_enums(PyObject*, PyObject* args) {
  PyObject *dtype, *place;
  if (!PyArg_ParseTuple(args, "OO", &dtype, &place)) return nullptr;
  Py_INCREF(dtype);
  Py_INCREF(place);
  Py_XDECREF(std::exchange(dtype_enum, dtype));
  Py_XDECREF(std::exchange(place_enum, place));
  Py_RETURN_NONE;
}

PyObject* new_tensor(Tensor tensor) {
  PyObject* made = PyType_GenericAlloc(tensor_type, 0);
  if (made != nullptr) {
    reinterpret_cast<TensorObject*>(made)->tensor = new Tensor(std::move(tensor));
  }
  return made;
}

const Tensor* tensor_of(PyObject* object) {
  return PyObject_TypeCheck(object, tensor_type) ? &of(object) : nullptr;
}

}  // namespace anynpu::aclruntime
