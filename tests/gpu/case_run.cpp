// SPDX-License-Identifier: Apache-2.0
// Runs a list of models on device 0 through the C API.
//   case_run < list
// A line of the list: name model.om prefix. Inputs are read from prefix.in0, prefix.in1 ...; raw
// outputs are written to prefix.out0 ..., their types and shapes to prefix.txt. Prints "case NAME"
// to stderr before each case, to attribute the library's messages to it, and "NAME ok" or
// "NAME error" to stdout after it.
#include <acl/acl.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr size_t kRoom = size_t{1} << 22;  // for outputs of unknown size

struct Failed {
  std::string why;
};

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  const char* const why = aclGetRecentErrMsg();
  throw Failed{std::string(what) + " returned " + std::to_string(code) + ": " + (why ? why : "")};
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failed{"cannot read " + path};
  return {std::istreambuf_iterator<char>(file), {}};
}

// A dataset that owns its buffers and their device memory.
struct Dataset {
  aclmdlDataset* set = aclmdlCreateDataset();
  std::vector<void*> memory;
  std::vector<aclDataBuffer*> buffers;
  ~Dataset() {
    for (aclDataBuffer* buffer : buffers) aclDestroyDataBuffer(buffer);
    for (void* block : memory) aclrtFree(block);
    aclmdlDestroyDataset(set);
  }
  void* add(size_t bytes) {
    void* block = nullptr;
    check(aclrtMalloc(&block, bytes > 0 ? bytes : 1, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    memory.push_back(block);
    buffers.push_back(aclCreateDataBuffer(block, bytes));
    check(aclmdlAddDatasetBuffer(set, buffers.back()), "aclmdlAddDatasetBuffer");
    return block;
  }
};

struct Model {
  uint32_t id = 0;
  aclmdlDesc* desc = aclmdlCreateDesc();
  explicit Model(const std::string& path) {
    check(aclmdlLoadFromFile(path.c_str(), &id), "aclmdlLoadFromFile");
    check(aclmdlGetDesc(desc, id), "aclmdlGetDesc");
  }
  ~Model() {
    aclmdlUnload(id);
    aclmdlDestroyDesc(desc);
  }
};

void run_case(const std::string& om, const std::string& prefix) {
  const Model model(om);
  Dataset inputs, outputs;
  for (size_t i = 0; i < aclmdlGetNumInputs(model.desc); ++i) {
    const std::vector<char> bytes = read_file(prefix + ".in" + std::to_string(i));
    void* const block = inputs.add(bytes.size());
    check(aclrtMemcpy(block, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy");
  }
  std::vector<size_t> sizes;
  for (size_t i = 0; i < aclmdlGetNumOutputs(model.desc); ++i) {
    const size_t bytes = aclmdlGetOutputSizeByIndex(model.desc, i);
    sizes.push_back(bytes > 0 ? bytes : kRoom);
    outputs.add(sizes.back());
  }
  check(aclmdlExecute(model.id, inputs.set, outputs.set), "aclmdlExecute");
  std::ofstream text(prefix + ".txt");
  for (size_t i = 0; i < sizes.size(); ++i) {
    aclmdlIODims dims = {};
    check(aclmdlGetCurOutputDims(model.desc, i, &dims), "aclmdlGetCurOutputDims");
    if (const aclTensorDesc* const given = aclmdlGetDatasetTensorDesc(outputs.set, i)) {
      dims.dimCount = aclGetTensorDescNumDims(given);
      for (size_t d = 0; d < dims.dimCount; ++d) aclGetTensorDescDimV2(given, d, &dims.dims[d]);
    }
    text << aclmdlGetOutputDataType(model.desc, i);
    for (size_t d = 0; d < dims.dimCount; ++d) text << ' ' << dims.dims[d];
    text << '\n';
    std::vector<char> bytes(sizes[i]);
    check(aclrtMemcpy(bytes.data(), bytes.size(), outputs.memory[i], bytes.size(),
                      ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
    std::ofstream(prefix + ".out" + std::to_string(i), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace

int main() {
  try {
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
  } catch (const Failed& failed) {
    std::fprintf(stderr, "%s\n", failed.why.c_str());
    return 2;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string name, om, prefix;
    if (!(words >> name >> om >> prefix)) continue;
    std::fprintf(stderr, "case %s\n", name.c_str());
    std::string outcome = "ok";
    try {
      run_case(om, prefix);
    } catch (const Failed& failed) {
      outcome = failed.why;
    }
    for (char& c : outcome) c = c == '\n' ? ' ' : c;
    std::printf("%s %s\n", name.c_str(), outcome.c_str());
    std::fflush(stdout);
  }
  aclFinalize();
  return 0;
}
