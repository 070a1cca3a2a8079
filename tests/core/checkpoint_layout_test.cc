// What files hold: the bytes of the documented layouts, and the differences of
// which they are made.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/varint.h"
#include "checkpoint/content_logs.h"
#include "checkpoint/diff.h"
#include "checkpointer_contract.h"

namespace keepsake::testing {
namespace {

using checkpoint::Diff;
using checkpoint::Edit;

std::string Apply(const std::vector<Edit>& edits, const std::string& base,
                  const std::string& target) {
  std::string made;
  for (const Edit& edit : edits)
    made += (edit.is_copy ? base : target).substr(edit.offset, edit.length);
  return made;
}

TEST(Diff, copies_what_is_there_and_brings_what_is_new) {
  const std::string kept(100, 'k');
  EXPECT_EQ(Diff(BytesOf("[1,2]"), BytesOf("[1,2,3]"), 8, 8),
            (std::vector<Edit>{{true, 0, 4}, {false, 4, 2}, {true, 4, 1}}));
  EXPECT_EQ(Diff(BytesOf("same"), BytesOf("same"), 8, 8), (std::vector<Edit>{{true, 0, 4}}));
  EXPECT_EQ(Diff(BytesOf(""), BytesOf("ab"), 8, 8), (std::vector<Edit>{{false, 0, 2}}));
  EXPECT_TRUE(Diff(BytesOf("ab"), BytesOf(""), 8, 8).empty());
}

TEST(Diff, finds_what_moved) {
  std::mt19937 random(1);
  const auto text = [&](std::size_t size) {
    std::string made(size, ' ');
    for (char& c : made) c = static_cast<char>(random() % 256);
    return made;
  };
  const std::string a = text(5'000), b = text(5'000), c = text(300);
  std::size_t brought = 0;
  for (const Edit& edit : Diff(BytesOf(a + b), BytesOf(c + b + a), 32, 256)) {
    if (!edit.is_copy) brought += edit.length;
  }
  EXPECT_EQ(brought, 300u);
}

TEST(Diff, finds_the_shortest_copy_wherever_it_is) {
  constexpr std::size_t kShortest = 256;
  std::mt19937 random(3);
  const auto text = [&](std::size_t size) {
    std::string made(size, ' ');
    for (char& c : made) c = static_cast<char>(random() % 256);
    return made;
  };
  const std::string base = text(3'000);
  for (std::size_t from = 0; from + kShortest <= base.size(); from += 41) {
    for (std::size_t to = 1; to < 500; to += 13) {
      const std::string target = text(to) + base.substr(from, kShortest) + text(700);
      std::size_t copied = 0;
      for (const Edit& edit : Diff(BytesOf(base), BytesOf(target), 32, kShortest)) {
        if (edit.is_copy) copied += edit.length;
      }
      // The bytes beside it may be the same by chance.
      ASSERT_GE(copied, kShortest) << from << " to " << to;
    }
  }
}

TEST(Diff, makes_the_target_of_any_base) {
  std::mt19937 random(2);
  for (int round = 0; round < 2'000; ++round) {
    std::string base(random() % 3'000, ' ');
    for (char& c : base) c = static_cast<char>('a' + random() % (round % 2 == 0 ? 2 : 26));
    std::string target = base;
    for (std::size_t edits = random() % 5; edits > 0; --edits) {
      const std::size_t at = target.empty() ? 0 : random() % target.size();
      target.erase(at, random() % 300);
      target.insert(std::min(at, target.size()), base.substr(0, random() % 600));
    }
    for (const std::size_t window : {8, 32}) {
      const auto edits = Diff(BytesOf(base), BytesOf(target), window, window);
      ASSERT_EQ(Apply(edits, base, target), target) << round;
      for (const Edit& edit : edits) ASSERT_GT(edit.length, 0u);
    }
  }
}

TEST(CheckpointLayout, hashes_are_those_of_yesterday) {
  EXPECT_EQ(HashOf({}), 12368069098383067247u);
  EXPECT_EQ(HashOf(BytesOf("keepsake")), 870338781822591015u);
  EXPECT_EQ(HashOf(BytesOf("a checkpoint of a thread"), 7), 10342203777631648248u);
}

TEST(CheckpointLayout, numbers_and_checksums_are_below_2_to_the_53) {
  using namespace checkpoint;
  const LogId greatest = MainLog(kMaxNamespace) + (LogId{1} << kLogBits) - 1;
  EXPECT_EQ(((greatest + 1) << kChunkBits) - 1, (std::int64_t{1} << 53) - 1);
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t checksum = ChecksumOf(i, BytesOf(std::to_string(i)));
    EXPECT_GE(checksum, 0);
    EXPECT_LT(checksum, std::int64_t{1} << 53);
  }
}

TEST(CheckpointLayout, rows_are_as_documented) {
  SqliteSaverBackend backend;
  ASSERT_TRUE(
      backend.saver().Put(At("t", "", "1").New("a", "1", "5").NewWithoutValue("b", "v")).ok());
  const auto bytes_of = [&](std::string_view sql) {
    Bytes bytes;
    EXPECT_TRUE(
        backend.database()
            .Run(sql, {},
                 [&](const sql::Row& row) { bytes.assign(row.Blob(0).begin(), row.Blob(0).end()); })
            .ok());
    return bytes;
  };
  std::string record = "\x04json\x0A{\"id\":\"1\"}\x04json\x02{}";
  record.insert(0, 1, '\0');  // no parent
  record += std::string(
      "\x01"
      "a\x02\x01\x04json\x01"
      "5");  // 1, a short value
  record += std::string(
      "\x01"
      "b\x03v\0",
      5);  // "v", none
  const Bytes base = bytes_of("SELECT bytes FROM content");
  EXPECT_EQ(std::string(base.begin(), base.end()), record);
  Bytes row = {0x80, 0x08, 0, static_cast<std::uint8_t>(record.size())};  // log 1024
  keepsake::AppendU64(HashOf(base, HashOf(base)), row);
  keepsake::AppendVarint(record.size() * 2, row);
  row.push_back(0);
  EXPECT_EQ(bytes_of("SELECT checkpoint FROM checkpoints"), row);
}

}  // namespace
}  // namespace keepsake::testing
