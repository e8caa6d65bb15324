// SPDX-License-Identifier: Apache-2.0
// hpe._hpe: the functions of libhpert.so and libprofiler_stc.so that the Python modules need, one
// to one over the public C API. Handles and device addresses are ints. Failures raise the exception
// that hpe.hpert.api set. Calls that may wait release the GIL.
#include "stable_python.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "acl/gil.h"
#include "anynpu.h"
#include "hpe.h"
#include "hpe/held_buffer.h"
#include "hpe/profiler.h"

namespace anynpu::pyhpe {

using pyacl::without_gil;

namespace {

PyObject* exception_class = nullptr;
bool was_interrupted = false;  // a wait ended by Ctrl-C

// Raises for `error`; null, so that callers can return it. An interrupted wait has raised already.
PyObject* raise(stcError_t error) {
  if (PyErr_Occurred()) {
    was_interrupted = true;
    return nullptr;
  }
  // Names from a damaged image may be no text.
  const char* message = anynpu_hpe_last_sentence();
  PyObject* detail = PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)),
                                          "backslashreplace");
  if (detail == nullptr) return nullptr;
  PyObject* value = Py_BuildValue("(issN)", static_cast<int>(error), stcGetErrorName(error),
                                  stcGetErrorString(error), detail);
  if (value == nullptr) return nullptr;
  PyErr_SetObject(exception_class ? exception_class : PyExc_RuntimeError, value);
  Py_DECREF(value);
  return nullptr;
}

PyObject* none_or_raise(stcError_t error) {
  if (error != stcSuccess) return raise(error);
  Py_RETURN_NONE;
}

template <typename Pointer>
Pointer pointer(unsigned long long value) {
  return reinterpret_cast<Pointer>(static_cast<uintptr_t>(value));
}
PyObject* number(const void* value) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(value));
}

// Makes a device current for one call; -1 leaves the thread's own.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    if (device == -1) return;
    error_ = stcGetDevice(&before_);
    if (error_ == stcSuccess && device != before_) {
      error_ = stcSetDevice(device);
      changed_ = error_ == stcSuccess;
    }
  }
  ~DeviceScope() {
    if (changed_) stcSetDevice(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  stcError_t error() const { return error_; }

 private:
  int before_ = 0;
  bool changed_ = false;
  stcError_t error_ = stcSuccess;
};

// Runs `call` on `device` without the GIL.
template <typename Call>
stcError_t on_device(int device, Call&& call) {
  return without_gil([&] {
    const DeviceScope scope(device);
    return scope.error() == stcSuccess ? call() : scope.error();
  });
}

// -- devices -----------------------------------------------------------------------------------

PyObject* set_exception(PyObject*, PyObject* type) {
  Py_INCREF(type);
  Py_XDECREF(std::exchange(exception_class, type));
  Py_RETURN_NONE;
}

PyObject* error_text(PyObject*, PyObject* args) {
  int code;
  if (!PyArg_ParseTuple(args, "i", &code)) return nullptr;
  const auto error = static_cast<stcError_t>(code);
  return Py_BuildValue("(ss)", stcGetErrorName(error), stcGetErrorString(error));
}

PyObject* set_device(PyObject*, PyObject* args) {
  int device;
  if (!PyArg_ParseTuple(args, "i", &device)) return nullptr;
  return none_or_raise(stcSetDevice(device));
}

PyObject* get_device(PyObject*, PyObject*) {
  int device;
  if (const stcError_t error = stcGetDevice(&device); error != stcSuccess) return raise(error);
  return PyLong_FromLong(device);
}

PyObject* device_count(PyObject*, PyObject*) {
  int count;
  if (const stcError_t error = stcGetDeviceCount(&count); error != stcSuccess) return raise(error);
  return PyLong_FromLong(count);
}

PyObject* device_name(PyObject*, PyObject* args) {
  int device;
  const char* name;
  if (!PyArg_ParseTuple(args, "i", &device)) return nullptr;
  if (const stcError_t error = stcGetDeviceName(&name, device); error != stcSuccess) {
    return raise(error);
  }
  return PyUnicode_FromString(name);
}

PyObject* device_attribute(PyObject*, PyObject* args) {
  int attribute;
  int device;
  int value;
  if (!PyArg_ParseTuple(args, "ii", &attribute, &device)) return nullptr;
  const stcError_t error =
      stcGetDeviceAttribute(&value, static_cast<stcDeviceAttr>(attribute), device);
  return error == stcSuccess ? PyLong_FromLong(value) : raise(error);
}

PyObject* synchronize(PyObject*, PyObject* args) {
  int device;
  if (!PyArg_ParseTuple(args, "i", &device)) return nullptr;
  const stcError_t error = on_device(device, [] { return stcDeviceSynchronize(); });
  release_finished_buffers();
  return none_or_raise(error);
}

// What queued kernels print is shown before a program ends. Not after Ctrl-C: the user has waited
// long enough.
PyObject* drain(PyObject*, PyObject*) {
  if (was_interrupted) Py_RETURN_NONE;
  const int interrupted = without_gil([] { return anynpu_hpe_drain(); });
  release_finished_buffers();
  if (interrupted && PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

// -- memory ------------------------------------------------------------------------------------

PyObject* malloc_device(PyObject*, PyObject* args) {
  int device;
  Py_ssize_t size;
  void* address = nullptr;
  if (!PyArg_ParseTuple(args, "in", &device, &size)) return nullptr;
  release_finished_buffers();
  const stcError_t error =
      on_device(device, [&] { return stcMalloc(&address, static_cast<size_t>(size)); });
  return error == stcSuccess ? number(address) : raise(error);
}

PyObject* free_device(PyObject*, PyObject* args) {
  int device;
  unsigned long long address;
  if (!PyArg_ParseTuple(args, "iK", &device, &address)) return nullptr;
  return none_or_raise(on_device(device, [&] { return stcFree(pointer<void*>(address)); }));
}

PyObject* malloc_host(PyObject*, PyObject* args) {
  Py_ssize_t size;
  void* address = nullptr;
  if (!PyArg_ParseTuple(args, "n", &size)) return nullptr;
  const stcError_t error = stcMallocHost(&address, static_cast<size_t>(size));
  return error == stcSuccess ? number(address) : raise(error);
}

PyObject* free_host(PyObject*, PyObject* args) {
  unsigned long long address;
  if (!PyArg_ParseTuple(args, "K", &address)) return nullptr;
  return none_or_raise(stcFreeHost(pointer<void*>(address)));
}

PyObject* host_register(PyObject*, PyObject* args) {
  unsigned long long address;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "Kn", &address, &size)) return nullptr;
  return none_or_raise(stcHostRegister(pointer<void*>(address), static_cast<size_t>(size)));
}

PyObject* host_unregister(PyObject*, PyObject* args) {
  unsigned long long address;
  if (!PyArg_ParseTuple(args, "K", &address)) return nullptr;
  return none_or_raise(stcHostUnregister(pointer<void*>(address)));
}

// (device, address, array, host offset, bytes, to_host, stream): the caller has checked the sizes
// against the array. The array is held until the copy is done.
PyObject* copy(PyObject*, PyObject* args) {
  int device;
  unsigned long long address;
  PyObject* array;
  Py_ssize_t offset;
  Py_ssize_t bytes;
  int to_host;
  unsigned long long stream;
  if (!PyArg_ParseTuple(args, "iKOnnpK", &device, &address, &array, &offset, &bytes, &to_host,
                        &stream)) {
    return nullptr;
  }
  release_finished_buffers();
  HeldBuffer* held = HeldBuffer::hold(array, to_host ? PyBUF_WRITABLE : PyBUF_SIMPLE);
  if (held == nullptr) return nullptr;
  if (offset < 0 || bytes < 0 || offset > held->bytes() || bytes > held->bytes() - offset) {
    HeldBuffer::release(held);
    PyErr_SetString(PyExc_ValueError, "the copy does not fit the array");
    return nullptr;
  }
  void* host = held->data() + offset;
  auto* there = pointer<void*>(address);
  void* to = to_host ? host : there;
  void* from = to_host ? there : host;
  const stcMemcpyKind kind = to_host ? stcMemcpyDeviceToHost : stcMemcpyHostToDevice;
  const stcError_t error = on_device(device, [&] {
    if (stream == 0) return stcMemcpy(to, from, static_cast<size_t>(bytes), kind);
    return static_cast<stcError_t>(anynpu_hpe_memcpy_async(to, from, static_cast<size_t>(bytes),
                                                           kind, pointer<stcStream_t>(stream),
                                                           HeldBuffer::finished, held));
  });
  if (stream == 0) {
    // An interrupted copy may still be queued, so it is unknown when the array is free.
    if (!PyErr_Occurred()) HeldBuffer::release(held);
  }
  return none_or_raise(error);
}

// -- modules -----------------------------------------------------------------------------------

PyObject* module_load(PyObject*, PyObject* args) {
  int device;
  Py_buffer image;
  stcModule_t module = nullptr;
  if (!PyArg_ParseTuple(args, "iy*", &device, &image)) return nullptr;
  const stcError_t error = on_device(device, [&] {
    return stcModuleLoadData(&module, image.buf, static_cast<size_t>(image.len));
  });
  PyBuffer_Release(&image);
  return error == stcSuccess ? number(module) : raise(error);
}

PyObject* module_drop(PyObject*, PyObject* args) {
  unsigned long long module;
  if (!PyArg_ParseTuple(args, "K", &module)) return nullptr;
  anynpu_hpe_drop_module(pointer<void*>(module));
  Py_RETURN_NONE;
}

// (module, kernel name, list of words, stream, core_num, flags)
PyObject* launch(PyObject*, PyObject* args) {
  unsigned long long handle;
  const char* name;
  PyObject* list;
  unsigned long long stream;
  int core_num;
  unsigned flags;
  if (!PyArg_ParseTuple(args, "KsO!KiI", &handle, &name, &PyList_Type, &list, &stream, &core_num,
                        &flags)) {
    return nullptr;
  }
  std::vector<uint32_t> words(static_cast<size_t>(PyList_Size(list)));
  std::vector<unsigned char> kinds(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    PyObject* pair = PyList_GetItem(list, static_cast<Py_ssize_t>(i));
    if (!PyArg_ParseTuple(pair, "Ib", &words[i], &kinds[i])) return nullptr;
  }
  auto module = pointer<stcModule_t>(handle);
  const stcError_t error = without_gil([&] {
    const stcError_t configured = stcConfigureCall(core_num, pointer<stcStream_t>(stream), flags);
    if (configured != stcSuccess) return configured;
    return stcLaunchKernelTyped(&module, name, {words.data(), words.size()}, kinds.data());
  });
  return none_or_raise(error);
}

// -- streams and events ------------------------------------------------------------------------

PyObject* stream_create(PyObject*, PyObject* args) {
  int device;
  stcStream_t stream = nullptr;
  if (!PyArg_ParseTuple(args, "i", &device)) return nullptr;
  const stcError_t error = on_device(device, [&] { return stcStreamCreate(&stream); });
  return error == stcSuccess ? number(stream) : raise(error);
}

PyObject* stream_drop(PyObject*, PyObject* args) {
  unsigned long long stream;
  if (!PyArg_ParseTuple(args, "K", &stream)) return nullptr;
  anynpu_hpe_drop_stream(pointer<void*>(stream));
  Py_RETURN_NONE;
}

PyObject* stream_synchronize(PyObject*, PyObject* args) {
  unsigned long long stream;
  if (!PyArg_ParseTuple(args, "K", &stream)) return nullptr;
  const stcError_t error =
      without_gil([&] { return stcStreamSynchronize(pointer<stcStream_t>(stream)); });
  release_finished_buffers();
  return none_or_raise(error);
}

PyObject* stream_wait(PyObject*, PyObject* args) {
  unsigned long long stream;
  unsigned long long event;
  if (!PyArg_ParseTuple(args, "KK", &stream, &event)) return nullptr;
  return none_or_raise(without_gil([&] {
    return stcStreamWaitEvent(pointer<stcStream_t>(stream), pointer<stcEvent_t>(event));
  }));
}

PyObject* event_create(PyObject*, PyObject* args) {
  int device;
  stcEvent_t event = nullptr;
  if (!PyArg_ParseTuple(args, "i", &device)) return nullptr;
  const stcError_t error = on_device(device, [&] { return stcEventCreate(&event); });
  return error == stcSuccess ? number(event) : raise(error);
}

PyObject* event_drop(PyObject*, PyObject* args) {
  unsigned long long event;
  if (!PyArg_ParseTuple(args, "K", &event)) return nullptr;
  return none_or_raise(stcEventDestroy(pointer<stcEvent_t>(event)));
}

PyObject* event_record(PyObject*, PyObject* args) {
  unsigned long long event;
  unsigned long long stream;
  if (!PyArg_ParseTuple(args, "KK", &event, &stream)) return nullptr;
  return none_or_raise(without_gil(
      [&] { return stcEventRecord(pointer<stcEvent_t>(event), pointer<stcStream_t>(stream)); }));
}

PyObject* event_synchronize(PyObject*, PyObject* args) {
  unsigned long long event;
  if (!PyArg_ParseTuple(args, "K", &event)) return nullptr;
  const stcError_t error =
      without_gil([&] { return stcEventSynchronize(pointer<stcEvent_t>(event)); });
  release_finished_buffers();
  return none_or_raise(error);
}

PyMethodDef functions[] = {
    {"set_exception", set_exception, METH_O, nullptr},
    {"error_text", error_text, METH_VARARGS, nullptr},
    {"set_device", set_device, METH_VARARGS, nullptr},
    {"get_device", get_device, METH_NOARGS, nullptr},
    {"device_count", device_count, METH_NOARGS, nullptr},
    {"device_name", device_name, METH_VARARGS, nullptr},
    {"device_attribute", device_attribute, METH_VARARGS, nullptr},
    {"synchronize", synchronize, METH_VARARGS, nullptr},
    {"drain", drain, METH_NOARGS, nullptr},
    {"malloc_device", malloc_device, METH_VARARGS, nullptr},
    {"free_device", free_device, METH_VARARGS, nullptr},
    {"malloc_host", malloc_host, METH_VARARGS, nullptr},
    {"free_host", free_host, METH_VARARGS, nullptr},
    {"host_register", host_register, METH_VARARGS, nullptr},
    {"host_unregister", host_unregister, METH_VARARGS, nullptr},
    {"copy", copy, METH_VARARGS, nullptr},
    {"module_load", module_load, METH_VARARGS, nullptr},
    {"module_drop", module_drop, METH_VARARGS, nullptr},
    {"launch", launch, METH_VARARGS, nullptr},
    {"stream_create", stream_create, METH_VARARGS, nullptr},
    {"stream_drop", stream_drop, METH_VARARGS, nullptr},
    {"stream_synchronize", stream_synchronize, METH_VARARGS, nullptr},
    {"stream_wait", stream_wait, METH_VARARGS, nullptr},
    {"event_create", event_create, METH_VARARGS, nullptr},
    {"event_drop", event_drop, METH_VARARGS, nullptr},
    {"event_record", event_record, METH_VARARGS, nullptr},
    {"event_synchronize", event_synchronize, METH_VARARGS, nullptr},
    {"profiler_call", profiler_call, METH_VARARGS, nullptr},
    {"profiler_event_names", profiler_event_names, METH_NOARGS, nullptr},
    {"profiler_data", profiler_data, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "hpe._hpe", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace anynpu::pyhpe

PyMODINIT_FUNC PyInit__hpe() {
  anynpu::pyacl::install_interrupt_check();
  return PyModule_Create(&anynpu::pyhpe::definition);
}
