// SPDX-License-Identifier: Apache-2.0
#include "collective/rank_table.h"

#include <gtest/gtest.h>

#include <thread>

#include "collective/socket_rendezvous.h"

namespace anynpu::collective {
namespace {

std::string table_of(const std::string& devices) {
  return R"({"version": "1.0", "server_list": [{"server_id": "a", "device": [)" + devices + "]}]}";
}

TEST(RankTable, NumbersMayBeTexts) {
  const auto table = RankTable::parse(
      table_of(R"({"device_id": "3", "rank_id": "1"}, {"device_id": 2, "rank_id": 0})"));
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  ASSERT_EQ(table->ranks.size(), 2u);
  EXPECT_EQ(table->ranks[0].device, 2);
  EXPECT_EQ(table->ranks[1].device, 3);
}

TEST(RankTable, SaysWhatIsWrong) {
  const auto why = [](const std::string& text) {
    return RankTable::parse(text).status().to_string();
  };
  EXPECT_NE(why("{}").find("server_list"), std::string::npos);
  EXPECT_NE(why("{").find("rank table"), std::string::npos);
  EXPECT_NE(why(table_of("")).find("no device"), std::string::npos);
  EXPECT_NE(why(table_of(R"({"device_id": "0"})")).find("rank_id"), std::string::npos);
  EXPECT_NE(why(table_of(R"({"device_id": "0", "rank_id": "1"})")).find("no rank_id 0"),
            std::string::npos);
  EXPECT_NE(
      why(table_of(R"({"device_id": "0", "rank_id": "0"}, {"device_id": "1", "rank_id": "0"})"))
          .find("twice"),
      std::string::npos);
  EXPECT_EQ(RankTable::read("/nowhere/table.json").status().code(), Code::file_not_found);
}

TEST(SocketRendezvous, BytesAreSentToThoseWhoKnowTheText) {
  const std::vector<std::byte> bytes(4108, std::byte{7});
  std::vector<std::byte> got(4108);
  std::thread second([&] {
    EXPECT_TRUE(
        receive_from_rank_zero("a text of this test", 1, got, Deadline::after_ms(10'000)).ok());
  });
  EXPECT_TRUE(send_to_all_ranks("a text of this test", bytes, 2, Deadline::after_ms(10'000)).ok());
  second.join();
  EXPECT_EQ(got, bytes);
}

TEST(SocketRendezvous, MissingRanksAreNamed) {
  const std::vector<std::byte> bytes(16);
  const Status alone =
      send_to_all_ranks("nobody knows this text", bytes, 3, Deadline::after_ms(30));
  EXPECT_EQ(alone.code(), Code::timeout);
  EXPECT_NE(alone.message().find("ranks 1 and 2"), std::string::npos);
  std::vector<std::byte> got(16);
  EXPECT_EQ(receive_from_rank_zero("nobody sends this", 1, got, Deadline::after_ms(30)).code(),
            Code::timeout);
}

}  // namespace
}  // namespace anynpu::collective
