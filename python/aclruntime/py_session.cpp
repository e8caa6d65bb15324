// SPDX-License-Identifier: Apache-2.0
// aclruntime._aclruntime.Session: the C++ session for the Python class InferenceSession, which
// keeps options, names and gears and decides the shapes.
#include <utility>

#include "aclruntime/feeds.h"
#include "aclruntime/python_types.h"
#include "aclruntime/session.h"

namespace anynpu::aclruntime {

namespace {

struct SessionObject {
  PyObject_HEAD Session* session;
};

Session& of(PyObject* self) { return *reinterpret_cast<SessionObject*>(self)->session; }

PyObject* session_new(PyTypeObject* type, PyObject* args, PyObject*) {
  const char *path, *name, *config;
  int device;
  if (!PyArg_ParseTuple(args, "ssis", &path, &name, &device, &config)) return nullptr;
  std::unique_ptr<Session> session;
  const Failure failure = without_gil([&] {
    return Session::open({path, name}, device, config, session);
  });
  if (failure) return raise(failure);
  PyObject* made = PyType_GenericAlloc(type, 0);
  if (made != nullptr) reinterpret_cast<SessionObject*>(made)->session = session.release();
  return made;
}

void session_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (Session* session = reinterpret_cast<SessionObject*>(self)->session) {
    session->free();
    delete session;
  }
  free_object(self);
  Py_DECREF(type);
}

// -- description
// -----------------------------------------------------------------------------------

PyObject* infos(const std::vector<TensorInfo>& list, size_t count) {
  PyObject* made = PyList_New(0);
  for (size_t i = 0; made != nullptr && i < count; ++i) {
    const TensorInfo& info = list[i];
    PyObject* item =
        Py_BuildValue("(siiNn)", info.name.c_str(), static_cast<int>(info.dtype), info.format,
                      int_list(info.shape), static_cast<Py_ssize_t>(info.size));
    if (item == nullptr || PyList_Append(made, item) != 0) Py_CLEAR(made);
    Py_XDECREF(item);
  }
  return made;
}

template <typename Number>
PyObject* lists(const std::vector<std::vector<Number>>& values) {
  PyObject* made = PyList_New(0);
  for (const auto& value : values) {
    PyObject* item = made ? int_list(value) : nullptr;
    if (item == nullptr || PyList_Append(made, item) != 0) Py_CLEAR(made);
    Py_XDECREF(item);
  }
  return made;
}

// (inputs, outputs, batches, images, dims, number of dynamic AIPP inputs); an input or output is
// (name, dtype, format, shape, size).
PyObject* describe(PyObject* self, PyObject*) {
  const Model* model = of(self).model();
  if (model == nullptr) return raise({kRuntime, "the session was freed"});
  return Py_BuildValue("(NNNNNn)", infos(model->inputs(), model->data_inputs()),
                       infos(model->outputs(), model->outputs().size()), int_list(model->batches()),
                       lists(model->images()), lists(model->dims()),
                       static_cast<Py_ssize_t>(model->aipp_inputs().size()));
}

// -- shapes
// ----------------------------------------------------------------------------------------

// (kind, gear, shapes of the inputs, bytes of the inputs)
bool parse_shapes(PyObject* tuple, Shapes& shapes) {
  int kind;
  PyObject *gear, *inputs, *bytes;
  if (!PyArg_ParseTuple(tuple, "iOO!O", &kind, &gear, &PyList_Type, &inputs, &bytes)) return false;
  shapes.kind = static_cast<Shapes::Kind>(kind);
  if (!numbers(gear, shapes.gear) || !numbers(bytes, shapes.bytes)) return false;
  for (Py_ssize_t i = 0; i < PyList_Size(inputs); ++i) {
    shapes.inputs.emplace_back();
    if (!numbers(PyList_GetItem(inputs, i), shapes.inputs.back())) return false;
  }
  return true;
}

PyObject* set_shapes(PyObject* self, PyObject* args) {
  Shapes shapes;
  if (!parse_shapes(args, shapes)) return nullptr;
  of(self).set_shapes(std::move(shapes));
  Py_RETURN_NONE;
}

PyObject* set_output_sizes(PyObject* self, PyObject* list) {
  std::vector<size_t> sizes;
  if (!numbers(list, sizes)) return nullptr;
  of(self).set_output_sizes(std::move(sizes));
  Py_RETURN_NONE;
}

template <typename Array>
bool fill(PyObject* list, Array& array) {
  PyObject* fast = PySequence_Fast(list, "a list of numbers is needed");
  bool good =
      fast != nullptr && PySequence_Fast_GET_SIZE(fast) == static_cast<Py_ssize_t>(array.size());
  for (size_t i = 0; good && i < array.size(); ++i) {
    const double value =
        PyFloat_AsDouble(PySequence_Fast_GET_ITEM(fast, static_cast<Py_ssize_t>(i)));
    good = value != -1 || !PyErr_Occurred();
    array[i] = static_cast<typename Array::value_type>(value);
  }
  Py_XDECREF(fast);
  if (!good && !PyErr_Occurred()) {
    PyErr_Format(PyExc_ValueError, "a list of %zu numbers is needed", array.size());
  }
  return good;
}

PyObject* set_aipp(PyObject* self, PyObject* args) {
  Aipp aipp;
  PyObject *image, *csc, *crop, *padding, *mean, *least, *reciprocal;
  int active;
  if (!PyArg_ParseTuple(args, "pKiOiiOOOOOO", &active, &aipp.batch, &aipp.format, &image,
                        &aipp.rbuv_swap, &aipp.ax_swap, &csc, &crop, &padding, &mean, &least,
                        &reciprocal)) {
    return nullptr;
  }
  aipp.active = active != 0;
  if (!fill(image, aipp.image) || !fill(csc, aipp.csc) || !fill(crop, aipp.crop) ||
      !fill(padding, aipp.padding) || !fill(mean, aipp.mean) || !fill(least, aipp.least) ||
      !fill(reciprocal, aipp.reciprocal)) {
    return nullptr;
  }
  of(self).set_aipp(aipp);
  Py_RETURN_NONE;
}

// -- runs
// ------------------------------------------------------------------------------------------

PyObject* tensors(std::vector<Tensor>& list) {
  PyObject* made = PyList_New(static_cast<Py_ssize_t>(list.size()));
  for (size_t i = 0; made != nullptr && i < list.size(); ++i) {
    PyObject* tensor = new_tensor(std::move(list[i]));
    if (tensor == nullptr) {
      Py_CLEAR(made);
      break;
    }
    PyList_SetItem(made, static_cast<Py_ssize_t>(i), tensor);
  }
  return made;
}

bool append_times(PyObject* list, const std::vector<ExecTime>& times) {
  for (const ExecTime& time : times) {
    PyObject* item = Py_BuildValue("(dd)", time.start, time.end);
    const bool good = item != nullptr && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    if (!good) return false;
  }
  return true;
}

// (outputs, times). Times of a run that failed are lost, as its outputs are.
PyObject* result(const Failure& failure, Session::Run& run) {
  if (failure || PyErr_Occurred()) return raise(failure);
  PyObject* times = PyList_New(0);
  if (times == nullptr || !append_times(times, run.times)) {
    Py_XDECREF(times);
    return nullptr;
  }
  return Py_BuildValue("(NN)", tensors(run.outputs), times);
}

PyObject* run(PyObject* self, PyObject* args) {
  PyObject* list;
  Session::Run run;
  int to_host;
  if (!PyArg_ParseTuple(args, "Oip", &list, &run.loop, &to_host)) return nullptr;
  run.to_host = to_host != 0;
  HeldFeeds held;
  std::vector<Feed> feeds;
  if (!held.take(list, feeds)) return nullptr;
  const Failure failure = without_gil([&] { return of(self).run(feeds, run); });
  return result(failure, run);
}

PyObject* run_again(PyObject* self, PyObject* args) {
  PyObject* list;
  Session::Run run;
  int to_host, copy, steps;
  if (!PyArg_ParseTuple(args, "Opiip", &list, &copy, &steps, &run.loop, &to_host)) return nullptr;
  run.to_host = to_host != 0;
  std::vector<int> in_out;
  if (!numbers(list, in_out)) return nullptr;
  const Failure failure =
      without_gil([&] { return of(self).run_again(in_out, copy != 0, steps, run); });
  return result(failure, run);
}

bool interrupted() {
  bool raised = false;
  pyacl::with_gil([&] { raised = PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0; });
  return raised;
}

// ([(feeds, shapes)], loop) -> ([outputs], times)
PyObject* pipeline(PyObject* self, PyObject* args) {
  PyObject* list;
  int loop;
  if (!PyArg_ParseTuple(args, "O!i", &PyList_Type, &list, &loop)) return nullptr;
  HeldFeeds held;
  std::vector<PipelineItem> items(static_cast<size_t>(PyList_Size(list)));
  for (size_t i = 0; i < items.size(); ++i) {
    PyObject *feeds, *shapes;
    PyObject* item = PyList_GetItem(list, static_cast<Py_ssize_t>(i));
    if (!PyArg_ParseTuple(item, "OO!", &feeds, &PyTuple_Type, &shapes) ||
        !held.take(feeds, items[i].feeds) || !parse_shapes(shapes, items[i].shapes)) {
      return nullptr;
    }
  }
  const Failure failure = without_gil([&] { return of(self).pipeline(items, loop, interrupted); });
  if (failure || PyErr_Occurred()) return raise(failure);
  PyObject* outputs = PyList_New(0);
  PyObject* times = PyList_New(0);
  bool good = outputs != nullptr && times != nullptr;
  for (size_t i = 0; good && i < items.size(); ++i) {
    PyObject* some = tensors(items[i].outputs);
    good =
        some != nullptr && PyList_Append(outputs, some) == 0 && append_times(times, items[i].times);
    Py_XDECREF(some);
  }
  if (good) return Py_BuildValue("(NN)", outputs, times);
  Py_XDECREF(outputs);
  Py_XDECREF(times);
  return nullptr;
}

PyObject* use(PyObject* self, PyObject*) { return none_or_raise(of(self).use()); }

PyObject* free_session(PyObject* self, PyObject*) {
  without_gil([&] { of(self).free(); });
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"describe", describe, METH_NOARGS, nullptr},
    {"set_shapes", set_shapes, METH_VARARGS, nullptr},
    {"set_output_sizes", set_output_sizes, METH_O, nullptr},
    {"set_aipp", set_aipp, METH_VARARGS, nullptr},
    {"run", run, METH_VARARGS, nullptr},
    {"run_again", run_again, METH_VARARGS, nullptr},
    {"pipeline", pipeline, METH_VARARGS, nullptr},
    {"use", use, METH_NOARGS, nullptr},
    {"free", free_session, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(session_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(session_dealloc)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"aclruntime._aclruntime.Session", sizeof(SessionObject), 0, Py_TPFLAGS_DEFAULT,
                    slots};

}  // namespace

bool add_session_type(PyObject* module) {
  PyObject* type = PyType_FromSpec(&spec);
  return type != nullptr && PyModule_AddObject(module, "Session", type) == 0;
}

}  // namespace anynpu::aclruntime
