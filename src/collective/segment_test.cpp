// SPDX-License-Identifier: Apache-2.0
#include "collective/segment.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "collective/rendezvous.h"

namespace anynpu::collective {
namespace {

TEST(Segment, PiecesArriveInOrderAndRoomComesBack) {
  auto segment = Segment::create(2, 4096);
  ASSERT_TRUE(segment.ok());
  Ring sender = (*segment)->ring(1, Lane::pair), receiver = (*segment)->ring(1, Lane::pair);
  for (uint64_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < kSlots; ++i) {
      std::byte* room = sender.room();
      ASSERT_NE(room, nullptr);
      room[0] = std::byte(i);
      sender.send({round, 1, 7, i});
    }
    EXPECT_EQ(sender.room(), nullptr);
    for (uint32_t i = 0; i < kSlots; ++i) {
      const auto arrived = receiver.arrived();
      ASSERT_TRUE(arrived);
      EXPECT_EQ(arrived->head.operation, round);
      EXPECT_EQ(arrived->head.bytes, i);
      EXPECT_EQ(arrived->data[0], std::byte(i));
      receiver.taken();
    }
    EXPECT_FALSE(receiver.arrived());
  }
}

TEST(Segment, LanesAndSendersAreApart) {
  auto segment = *Segment::create(3, 4096);
  Ring sender = segment->ring(2, Lane::control);
  ASSERT_NE(sender.room(), nullptr);
  sender.send({1, 0, 0, 0});
  for (uint32_t rank = 0; rank < 3; ++rank) {
    for (const Lane lane : {Lane::collective, Lane::pair, Lane::control}) {
      Ring receiver = segment->ring(rank, lane);
      EXPECT_EQ(receiver.arrived().has_value(), rank == 2 && lane == Lane::control);
    }
  }
}

TEST(Segment, APieceThatClaimsTooMuchIsCut) {
  auto segment = *Segment::create(1, 4096);
  Ring sender = segment->ring(0, Lane::pair), receiver = segment->ring(0, Lane::pair);
  sender.send({0, 0, 0, 1u << 30});
  EXPECT_EQ(receiver.arrived()->head.bytes, 4096u);
}

TEST(Segment, AnotherOpeningSeesTheSameMemory) {
  auto mine = *Segment::create(2, 4096);
  auto opened = Segment::open(mine->ticket());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*opened)->piece(), 4096u);
  mine->set_failed("no more paper");
  EXPECT_TRUE((*opened)->failed());
  EXPECT_EQ((*opened)->why(), "no more paper");
  mine->close_to_others();
  EXPECT_FALSE(Segment::open(mine->ticket()).ok());
}

TEST(PeerProcess, KnowsWhenAProcessEnds) {
  EXPECT_TRUE(PeerProcess(getpid()).alive());
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  PeerProcess process(child);
  EXPECT_TRUE(process.alive());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(process.alive());
}

TEST(Rendezvous, RanksMeet) {
  auto rendezvous = *Rendezvous::create();
  auto second = *Rendezvous::open(rendezvous->ticket());
  ASSERT_TRUE(rendezvous->take_slot(0, 2).ok());
  ASSERT_TRUE(second->take_slot(1, 2).ok());
  EXPECT_EQ(rendezvous->take_slot(1, 2).code(), Code::already_exists);
  EXPECT_EQ(rendezvous->missing(2), (std::vector<uint32_t>{0, 1}));
  RankRecord record;
  record.machine = this_machine();
  record.pid = getpid();
  record.device = 5;
  rendezvous->publish(0, record);
  EXPECT_EQ(rendezvous->collect(2, Deadline::after_ms(50)).status().code(), Code::timeout);
  record.device = 6;
  second->publish(1, record);
  const auto records = rendezvous->collect(2, Deadline::after_ms(1000));
  ASSERT_TRUE(records.ok());
  EXPECT_EQ((*records)[1].device, 6);
  rendezvous->mark_connected(0);
  second->mark_connected(1);
  EXPECT_TRUE(second->wait_connected(2, Deadline::after_ms(1000)).ok());
}

TEST(Rendezvous, OneThatGivesUpEndsItForAll) {
  auto rendezvous = *Rendezvous::create();
  ASSERT_TRUE(rendezvous->take_slot(0, 2).ok());
  EXPECT_EQ(rendezvous->take_slot(1, 3).code(), Code::invalid_argument);
  const auto records = rendezvous->collect(2, Deadline::after_ms(60'000));
  EXPECT_EQ(records.status().code(), Code::task_failed);
  EXPECT_NE(records.status().message().find("3 ranks"), std::string::npos);
}

TEST(Exchange, RanksAreListedAsPeopleDo) {
  EXPECT_EQ(list_ranks({3}), "rank 3");
  EXPECT_EQ(list_ranks({1, 2, 7}), "ranks 1, 2 and 7");
  EXPECT_EQ(list_ranks({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

}  // namespace
}  // namespace anynpu::collective
