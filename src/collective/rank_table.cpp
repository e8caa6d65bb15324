// SPDX-License-Identifier: Apache-2.0
#include "collective/rank_table.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <map>

#include "base/json.h"
#include "collective/root_info.h"
#include "collective/socket_rendezvous.h"

namespace anynpu::collective {

namespace {

constexpr size_t kMostFileBytes = 64 << 20;

// Numbers are texts in most tables.
Result<int64_t> number_of(const json::Value& holder, const char* key) {
  const json::Value* value = holder.find(key);
  if (value && value->is_number()) return value->integer();
  if (value && value->string()) {
    const std::string& text = *value->string();
    int64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec == std::errc() && end.ptr == text.data() + text.size()) return number;
  }
  return fail(Code::invalid_config, "'{}' of the rank table is {}; expected a number", key,
              value ? value->dump() : "missing");
}

Status add_devices(const json::Value& server, std::map<int64_t, RankTable::Rank>& ranks) {
  const json::Value* id = server.find("server_id");
  const json::Value* devices = server.find("device");
  if (!id || !id->string() || !devices || !devices->array()) {
    return fail(Code::invalid_config,
                "an entry of 'server_list' lacks the text 'server_id' or the list 'device'");
  }
  for (const json::Value& device : *devices->array()) {
    ANYNPU_ASSIGN(const int64_t rank, number_of(device, "rank_id"));
    ANYNPU_ASSIGN(const int64_t number, number_of(device, "device_id"));
    if (!ranks.emplace(rank, RankTable::Rank{*id->string(), number}).second) {
      return fail(Code::invalid_config, "rank_id {} stands twice in the rank table", rank);
    }
  }
  return {};
}

}  // namespace

Result<RankTable> RankTable::parse(std::string text) {
  ANYNPU_ASSIGN(const json::Value root, json::parse(text, "the rank table"));
  const json::Value* servers = root.find("server_list");
  if (!servers || !servers->array()) {
    return fail(Code::invalid_config,
                "the rank table has no list 'server_list'; expected version 1.0 of its form");
  }
  std::map<int64_t, Rank> ranks;
  for (const json::Value& server : *servers->array()) ANYNPU_TRY(add_devices(server, ranks));
  RankTable table;
  for (const auto& [rank, entry] : ranks) {
    if (rank != static_cast<int64_t>(table.ranks.size())) {
      return fail(Code::invalid_config,
                  "the rank table has {} ranks, but no rank_id {}; expected 0 to {}", ranks.size(),
                  table.ranks.size(), ranks.size() - 1);
    }
    table.ranks.push_back(entry);
  }
  if (table.ranks.empty()) return fail(Code::invalid_config, "the rank table names no device");
  table.text = std::move(text);
  return table;
}

Result<RankTable> RankTable::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(Code::file_not_found, "the rank table '{}' cannot be opened; pass its path", path);
  }
  std::string text;
  char block[4096];
  while (file.read(block, sizeof block), file.gcount() > 0) {
    text.append(block, static_cast<size_t>(file.gcount()));
    if (text.size() > kMostFileBytes) {
      return fail(Code::file_invalid, "'{}' has more than {} bytes", path, kMostFileBytes);
    }
  }
  ANYNPU_ASSIGN(auto table, parse(std::move(text)), "in '{}'", path);
  return table;
}

Result<std::unique_ptr<Exchange>> join_table(const RankTable& table, uint32_t rank) {
  for (const RankTable::Rank& entry : table.ranks) {
    if (entry.server == table.ranks[0].server) continue;
    return fail(
        Code::unsupported_feature,
        "the rank table names the servers '{}' and '{}'; expected one machine: for several, "
        "send a root info to all ranks",
        table.ranks[0].server, entry.server);
  }
  const auto ranks = static_cast<uint32_t>(table.ranks.size());
  std::vector<std::byte> info(kRootInfoBytes);
  const RootInfo bytes(info.data(), kRootInfoBytes);
  if (rank == 0) {
    ANYNPU_TRY(make_root_info(bytes));
    ANYNPU_TRY(send_to_all_ranks(table.text, info, ranks, connect_deadline()));
  } else {
    ANYNPU_TRY(receive_from_rank_zero(table.text, rank, info, connect_deadline()));
  }
  return join_root(bytes, rank, ranks);
}

}  // namespace anynpu::collective
