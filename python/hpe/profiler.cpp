// SPDX-License-Identifier: Apache-2.0
#include "hpe/profiler.h"

#include <string_view>

#include "stcpti.h"

namespace anynpu::pyhpe {

namespace {

PyObject* list_of(const uint32_t* values, int count) {
  PyObject* list = PyList_New(count);
  if (list == nullptr) return nullptr;
  for (int i = 0; i < count; ++i) {
    PyObject* item = PyLong_FromUnsignedLong(values[i]);
    if (item == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SetItem(list, i, item);
  }
  return list;
}

// The cycles as a whole, not their low 32 bits.
PyObject* npc_events(const STCpti_KernelNpcPerfData& data) {
  PyObject* list = list_of(data.event, STC_PTI_NPC_EVENTS);
  if (list == nullptr) return nullptr;
  PyObject* cycles = PyLong_FromUnsignedLongLong(stcptiKernelGetMcuCycle64(&data));
  if (cycles == nullptr || PyList_SetItem(list, STC_PTI_EVENT_ID_MCU_CYCLE, cycles) != 0) {
    Py_DECREF(list);
    return nullptr;
  }
  return list;
}

PyObject* kernel_of(const STCpti_KernelPerfDatas& kernel) {
  PyObject* npcs = PyList_New(kernel.kernelNpcPerfDataSize);
  for (uint32_t i = 0; npcs != nullptr && i < kernel.kernelNpcPerfDataSize; ++i) {
    PyObject* events = npc_events(kernel.arrKernelNpcPerfData[i]);
    if (events == nullptr) {
      Py_CLEAR(npcs);
      break;
    }
    PyList_SetItem(npcs, i, events);
  }
  if (npcs == nullptr) return nullptr;
  PyObject* dma = list_of(kernel.kernelDmaPerfData.event, STC_PTI_DMA_EVENTS);
  return Py_BuildValue("(sNN)", kernel.pKernelName, npcs, dma);  // takes both references
}

}  // namespace

PyObject* profiler_call(PyObject*, PyObject* args) {
  const char* text;
  if (!PyArg_ParseTuple(args, "s", &text)) return nullptr;
  const std::string_view what = text;
  stcProfilerResult_t result = STC_PROFILER_ERROR_INVALID_ARGU;
  if (what == "create") result = stcptiKernelContextCreate();
  if (what == "enable") result = stcptiKernelEnable();
  if (what == "disable") result = stcptiKernelDisable();
  if (what == "release") result = stcptiKernelContextRelease();
  return PyLong_FromLong(result);
}

PyObject* profiler_event_names(PyObject*, PyObject*) {
  PyObject* list = PyList_New(0);
  for (int id = 0; list != nullptr && id < STC_PTI_EVENT_ID_MAX; ++id) {
    const char* name = "";
    stcptiGetEventNameFromID(id, &name);
    PyObject* text = PyUnicode_FromString(name);
    if (text == nullptr || PyList_Append(list, text) != 0) Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}

PyObject* profiler_data(PyObject*, PyObject*) {
  STCpti_PerfDatas datas{};
  const stcProfilerResult_t result = stcptiKernelGetPerfDatas(&datas);
  if (result != STC_PROFILER_SUCCESS) return PyLong_FromLong(result);
  PyObject* list = PyList_New(datas.kernelPerfDataSize);
  for (uint32_t i = 0; list != nullptr && i < datas.kernelPerfDataSize; ++i) {
    PyObject* kernel = kernel_of(datas.pKernelPerfDatas[i]);
    if (kernel == nullptr) {
      Py_CLEAR(list);
      break;
    }
    PyList_SetItem(list, i, kernel);
  }
  return list;
}

}  // namespace anynpu::pyhpe
