// SPDX-License-Identifier: Apache-2.0
#include "service/graph_build/operator_types.h"

#include <map>
#include <mutex>
#include <utility>

#include "import/singleop/table.h"

namespace anynpu::service {

namespace {

struct Types {
  std::mutex mutex;
  std::map<std::string, OperatorMaker> makers;
};

Types& types() {
  static auto* types = new Types;
  return *types;
}

OperatorMaker find_maker(const std::string& type) {
  const std::lock_guard lock(types().mutex);
  const auto found = types().makers.find(type);
  return found == types().makers.end() ? nullptr : found->second;
}

}  // namespace

void register_operator_type(const std::string& type, OperatorMaker maker) {
  const std::lock_guard lock(types().mutex);
  types().makers.emplace(type, std::move(maker));
}

std::shared_ptr<void> make_operator(const std::string& type, const std::string& name) {
  const OperatorMaker maker = find_maker(type);  // called with no lock held: it may register
  return maker ? maker(name) : nullptr;
}

Status check_operator_type(const std::string& type) {
  if (find_maker(type) || singleop::find_vendor_op(type)) return {};
  singleop::SingleOp missing;
  missing.type = type;
  return singleop::build_graph(missing).status();  // the sentence that a call of it gives
}

void* status_texts_of_clients() {
  static auto* texts = new std::map<uint32_t, std::string>;
  return texts;
}

}  // namespace anynpu::service
