// Encrypted files: nothing of what they hold is readable in them, and what somebody changes in
// them is an error or, at the end of the log, as if it had never been written.
#include "sql/file_seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "file_vfs_test_files.h"
#include "sql/file_trees.h"
#include "sql/sqlite_database.h"
#include "transfer/file_salvage.h"

namespace keepsake::sql {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPage = 4096, kBlock = 4096, kLogHeader = 32, kFrame = 24 + kPage;
constexpr std::string_view kMarker = "the-marker-that-nobody-may-read";

FileKey KeyOf(char letter) {
  return {.key = Bytes(FileKey::kBytes, static_cast<std::uint8_t>(letter)),
          .kind = 1,
          .iterations = 1000,
          .salt = Bytes(FileKey::kSaltBytes, static_cast<std::uint8_t>(letter + 1))};
}
Bytes KeysOf(std::string_view letters) {
  std::vector<FileKey> keys;
  for (const char letter : letters) keys.push_back(KeyOf(letter));
  return EncodeKeys(keys);
}

bool Holds(const MemoryFiles::File& file, std::string_view text) {
  return std::ranges::search(file.bytes, text).begin() != file.bytes.end();
}

class FileSealTest : public testing::Test {
 protected:
  // A database, opened for as long as this lives.
  struct Opened {
    Opened(MemoryFiles& files, const Bytes& keys, Durability durability = Durability::kRelaxed) {
      vfs = *FileVfs::Register("seal-test", files.Host());
      auto opened = OpenDatabase(
          {.path = "sealed", .durability = durability, .vfs = "seal-test", .keys = keys});
      if (opened)
        database = std::move(*opened);
      else
        error = opened.error();
    }
    Status Run(std::string_view sql, std::initializer_list<Param> params = {}) {
      return database->Run(sql, params);
    }
    std::unique_ptr<FileVfs> vfs;
    Status error;
    std::unique_ptr<Database> database;
  };

  static Status Put(Opened& opened, std::int64_t id, std::string_view text) {
    return opened.Run("INSERT OR REPLACE INTO content VALUES(?, 0, ?)",
                      {Param(id), Param(ByteView(reinterpret_cast<const std::uint8_t*>(text.data()),
                                                 text.size()))});
  }

  // Contents by id, or an error's text.
  static std::string All(Opened& opened) {
    if (opened.database == nullptr) return "error: " + opened.error.message();
    std::string all;
    const Status status = opened.database->Run(
        "SELECT chunk, bytes FROM content ORDER BY chunk", {}, [&](const Row& row) {
          all += std::to_string(row.Int(0)) + '=' + std::string(row.Text(1)) + '\n';
        });
    return status.ok() ? all : "error: " + status.message();
  }
  static std::string AllOf(MemoryFiles files, std::string_view letters = "a") {
    Opened opened(files, KeysOf(letters));
    return All(opened);
  }

  // Closed, its log moved.
  void Fill(int rows) {
    Opened opened(files_, KeysOf("a"));
    ASSERT_NE(opened.database, nullptr) << opened.error.message();
    for (int i = 0; i < rows; ++i) {
      const Status status = Put(opened, i, std::string(kMarker) + std::string(900, 'x'));
      ASSERT_TRUE(status.ok()) << status.message();
    }
    ASSERT_TRUE(opened.database->Flush().ok());
  }

  // Some transactions, none of which is moved out of the log; how the files are then, and after
  // each transaction what a reader finds.
  MemoryFiles FillLog(std::vector<std::string>* after, int transactions = 6) {
    Opened opened(files_, KeysOf("a"));
    EXPECT_TRUE(opened.database->Flush().ok());
    for (int i = 0; i < transactions; ++i) {
      EXPECT_TRUE(Put(opened, i, std::string(kMarker) + std::string(9'000, 'a' + i % 26)).ok());
      after->push_back(All(opened));
    }
    return files_.CopyOfBytes();
  }

  MemoryFiles files_{"sealed"};
};

TEST_F(FileSealTest, a_file_opens_again_with_its_key) {
  Fill(200);
  const std::string all = AllOf(files_.CopyOfBytes());
  EXPECT_THAT(all, HasSubstr("199=" + std::string(kMarker)));
}

TEST_F(FileSealTest, no_byte_of_what_is_stored_is_in_the_files) {
  Fill(50);
  std::vector<std::string> after;
  MemoryFiles image = FillLog(&after);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(Holds(image[i], kMarker)) << i;
    EXPECT_FALSE(Holds(image[i], "store_kv")) << i;
    EXPECT_FALSE(Holds(image[i], "SQLite format 3")) << i;
    EXPECT_FALSE(Holds(image[i], "aaaaaaaa")) << i;
  }
  EXPECT_GT(image.log().bytes.size(), 6 * kFrame);
  EXPECT_TRUE(image[2].bytes.empty());
  EXPECT_EQ(image.database().bytes.size() % kPage, 0u);
}

TEST_F(FileSealTest, the_same_page_written_twice_is_encrypted_differently) {
  Fill(1);
  const std::vector<std::uint8_t> before = files_.database().bytes;
  {
    Opened opened(files_, KeysOf("a"));
    ASSERT_TRUE(opened.Run("VACUUM").ok());
    ASSERT_TRUE(opened.database->Flush().ok());
  }
  const std::vector<std::uint8_t>& now = files_.database().bytes;
  const std::size_t pages = std::min(before.size(), now.size()) / kPage;
  for (std::size_t page = 1; page < pages; ++page) {
    EXPECT_FALSE(std::equal(before.begin() + static_cast<std::ptrdiff_t>(page * kPage),
                            before.begin() + static_cast<std::ptrdiff_t>(page * kPage + 4096),
                            now.begin() + static_cast<std::ptrdiff_t>(page * kPage)))
        << page;
  }
}

TEST_F(FileSealTest, a_wrong_key_is_an_error_and_changes_nothing) {
  Fill(10);
  const std::vector<std::uint8_t> before = files_.database().bytes;
  const int writes = files_.total_writes();
  {
    const Opened opened(files_, KeysOf("b"));
    EXPECT_EQ(opened.error.code(), StatusCode::kWrongKey);
    EXPECT_THAT(opened.error.message(), HasSubstr("give the key that it was made with"));
  }
  {
    FileKey other = KeyOf('a');
    other.key[31] ^= 1;
    const Opened opened(files_, EncodeKeys(std::vector{other}));
    EXPECT_EQ(opened.error.code(), StatusCode::kWrongKey);
  }
  EXPECT_EQ(files_.total_writes(), writes);
  EXPECT_EQ(files_.database().bytes, before);
}

TEST_F(FileSealTest, no_key_for_an_encrypted_file_is_an_error) {
  Fill(10);
  const Opened opened(files_, {});
  EXPECT_EQ(opened.error.code(), StatusCode::kKeyRequired);
  EXPECT_THAT(opened.error.message(), HasSubstr("the file is encrypted"));
}

TEST_F(FileSealTest, a_key_for_a_plain_file_is_an_error) {
  {
    const Opened opened(files_, {});
  }
  const std::vector<std::uint8_t> before = files_.database().bytes;
  const Opened opened(files_, KeysOf("a"));
  EXPECT_EQ(opened.error.code(), StatusCode::kWrongKey);
  EXPECT_THAT(opened.error.message(), HasSubstr("the file is not encrypted"));
  EXPECT_EQ(files_.database().bytes, before);
}

TEST_F(FileSealTest, a_key_in_memory_or_of_another_length_is_an_error) {
  EXPECT_EQ(OpenDatabase({.path = ":memory:", .keys = KeysOf("a")}).error().code(),
            StatusCode::kUnsupported);
  const Opened opened(files_, Bytes(31));
  EXPECT_EQ(opened.error.code(), StatusCode::kInvalidArgument);
}

// Every page, in each of its parts.
TEST_F(FileSealTest, a_flipped_bit_in_any_page_is_never_an_answer) {
  Fill(100);
  const std::string right = AllOf(files_.CopyOfBytes());
  std::mt19937 random(20261124);
  const std::size_t pages = files_.database().bytes.size() / kPage;
  int noticed = 0;
  for (std::size_t page = 1; page < pages; ++page) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{random() % 4040}, std::size_t{4045},
                                 std::size_t{4060}, std::size_t{4090}}) {
      MemoryFiles damaged = files_.CopyOfBytes();
      damaged.database().bytes[page * kPage + at] ^= static_cast<std::uint8_t>(1 << random() % 8);
      Opened opened(damaged, KeysOf("a"));
      const std::string found = All(opened);
      EXPECT_TRUE(found == right || found.starts_with("error: ")) << page << " " << at;
      if (found != right) ++noticed;
      if (opened.database == nullptr) {
        EXPECT_EQ(opened.error.code(), StatusCode::kCorrupt) << opened.error.message();
        continue;
      }
      const auto check = opened.database->CheckPages(1, 10'000, false);
      if (!check) {
        EXPECT_EQ(check.error().code(), StatusCode::kCorrupt);
        continue;
      }
      ASSERT_EQ(check->damaged.size(), 1u) << page << " " << at;
      EXPECT_EQ(check->damaged[0].number, page);
    }
  }
  EXPECT_GT(noticed, 20);
}

TEST_F(FileSealTest, two_pages_in_each_others_place_are_corrupt) {
  Fill(100);
  MemoryFiles swapped = files_.CopyOfBytes();
  auto& bytes = swapped.database().bytes;
  std::swap_ranges(bytes.end() - static_cast<std::ptrdiff_t>(2 * kPage),
                   bytes.end() - static_cast<std::ptrdiff_t>(kPage),
                   bytes.end() - static_cast<std::ptrdiff_t>(kPage));
  Opened opened(swapped, KeysOf("a"));
  ASSERT_NE(opened.database, nullptr);
  const auto check = opened.database->CheckPages(1, 10'000, false);
  ASSERT_TRUE(check.has_value());
  EXPECT_EQ(check->damaged.size(), 2u);
}

TEST_F(FileSealTest, a_page_of_another_file_with_the_same_key_is_corrupt) {
  Fill(20);
  MemoryFiles mine = files_.CopyOfBytes();
  files_ = MemoryFiles("sealed");
  const FileHost host = files_.Host();
  std::array<std::uint8_t, 5> others;
  host.random(host.context, others.data(), 5);
  Fill(20);
  MemoryFiles theirs = files_.CopyOfBytes();
  ASSERT_EQ(mine.database().bytes.size(), theirs.database().bytes.size());
  std::copy_n(theirs.database().bytes.begin() + kBlock, kPage,
              mine.database().bytes.begin() + kBlock);
  const Opened opened(mine, KeysOf("a"));
  EXPECT_EQ(opened.error.code(), StatusCode::kCorrupt);
}

TEST_F(FileSealTest, a_page_of_zeros_is_corrupt) {
  Fill(20);
  std::fill_n(files_.database().bytes.begin() + kBlock, kPage, std::uint8_t{0});
  const Opened opened(files_, KeysOf("a"));
  EXPECT_EQ(opened.error.code(), StatusCode::kCorrupt);
}

// Either slot can be damaged, and is made whole again by the next write.
TEST_F(FileSealTest, one_damaged_slot_of_the_key_costs_nothing_and_two_are_corrupt) {
  Fill(5);
  for (const std::size_t slot : {512u, 1024u}) {
    MemoryFiles damaged = files_.CopyOfBytes();
    damaged.database().bytes[slot + 60] ^= 4;
    {
      Opened opened(damaged, KeysOf("a"));
      ASSERT_NE(opened.database, nullptr) << opened.error.message();
      ASSERT_TRUE(Put(opened, 1, "x").ok());
    }
    EXPECT_TRUE(std::equal(damaged.database().bytes.begin() + 512,
                           damaged.database().bytes.begin() + 612,
                           damaged.database().bytes.begin() + 1024));
  }
  files_.database().bytes[512 + 60] ^= 4;
  files_.database().bytes[1024 + 60] ^= 4;
  const Opened opened(files_, KeysOf("a"));
  EXPECT_EQ(opened.error.code(), StatusCode::kCorrupt);
}

// What is found is what was there before a transaction, and only its last one may be missing.
TEST_F(FileSealTest, a_flipped_bit_in_the_log_is_corrupt_unless_it_is_in_the_last_transaction) {
  Fill(5);
  std::vector<std::string> after;
  const MemoryFiles image = FillLog(&after);
  MemoryFiles whole = image.CopyOfBytes();
  ASSERT_EQ(AllOf(whole.CopyOfBytes()), after.back());
  const std::size_t frames = (whole.log().bytes.size() - kLogHeader) / kFrame;
  std::mt19937 random(7);
  int corrupt = 0, cut = 0;
  for (std::size_t at = 0; at < kLogHeader + frames * kFrame; at += 1 + random() % 700) {
    MemoryFiles damaged = image.CopyOfBytes();
    damaged.log().bytes[at] ^= static_cast<std::uint8_t>(1 << random() % 8);
    Opened opened(damaged, KeysOf("a"));
    const std::string found = All(opened);
    if (opened.database == nullptr) {
      EXPECT_EQ(opened.error.code(), StatusCode::kCorrupt) << opened.error.message();
      ++corrupt;
    } else {
      EXPECT_EQ(found, after[after.size() - 2]) << at;
      ++cut;
    }
  }
  EXPECT_GT(corrupt, 50);
  EXPECT_GT(cut, 5);
  EXPECT_LT(cut, corrupt / 2);
}

TEST_F(FileSealTest, a_flipped_bit_in_the_header_of_the_log_is_corrupt) {
  Fill(5);
  std::vector<std::string> after;
  const MemoryFiles image = FillLog(&after);
  for (std::size_t at = 0; at < kLogHeader; ++at) {
    MemoryFiles damaged = image.CopyOfBytes();
    damaged.log().bytes[at] ^= 0x20;
    const Opened opened(damaged, KeysOf("a"));
    EXPECT_EQ(opened.error.code(), StatusCode::kCorrupt) << at;
  }
}

TEST_F(FileSealTest, two_frames_in_each_others_place_are_corrupt) {
  Fill(5);
  std::vector<std::string> after;
  MemoryFiles image = FillLog(&after);
  auto first = image.log().bytes.begin() + kLogHeader;
  std::swap_ranges(first, first + kFrame, first + kFrame);
  const Opened opened(image, KeysOf("a"));
  EXPECT_EQ(opened.error.code(), StatusCode::kCorrupt);
}

// Wherever a crash cuts off the last write, what was acknowledged before is there.
TEST_F(FileSealTest, a_log_that_was_cut_off_anywhere_loses_its_last_transaction_at_most) {
  Fill(5);
  std::vector<std::string> after;
  FillLog(&after, 4);
  const MemoryFiles before = files_.CopyOfBytes();
  MemoryFiles start = before.CopyOfBytes();
  const std::size_t from = start.log().bytes.size();
  std::vector<std::string> last;
  MemoryFiles next = before.CopyOfBytes();
  {
    Opened opened(next, KeysOf("a"));
    ASSERT_TRUE(Put(opened, 77, std::string(20'000, 'q')).ok());
    last.push_back(All(opened));
    MemoryFiles written = next.CopyOfBytes();
    for (std::size_t size = from; size < written.log().bytes.size(); size += 511) {
      MemoryFiles cut = written.CopyOfBytes();
      cut.log().bytes.resize(size);
      EXPECT_EQ(AllOf(std::move(cut)), after.back()) << size;
      // And where the file was made longer before its bytes came.
      MemoryFiles blank = written.CopyOfBytes();
      std::fill(blank.log().bytes.begin() + static_cast<std::ptrdiff_t>(size),
                blank.log().bytes.end(), std::uint8_t{0});
      EXPECT_EQ(AllOf(std::move(blank)), after.back()) << size;
    }
    EXPECT_EQ(AllOf(std::move(written)), last.back());
  }
}

TEST_F(FileSealTest, a_transaction_that_outgrows_the_cache_is_recovered_from_the_log) {
  Fill(5);
  Opened opened(files_, KeysOf("a"));
  ASSERT_TRUE(opened.Run("PRAGMA cache_size = 8").ok());
  for (int round = 0; round < 6; ++round) {
    const bool is_kept = round % 2 == 0;
    const Status status = opened.database->InTransaction([&]() -> Status {
      for (int i = 0; i < 60; ++i) {
        Status put = Put(
            opened, i % 20,
            std::string(static_cast<std::size_t>(500 * (i % 11)), static_cast<char>('a' + round)));
        if (!put.ok()) return put;
      }
      return is_kept ? Status() : Status(StatusCode::kNotFound, "on purpose");
    });
    ASSERT_EQ(status.ok(), is_kept) << status.message();
    ASSERT_EQ(AllOf(files_.CopyOfBytes()), All(opened)) << round;
  }
}

TEST_F(FileSealTest, somebody_elses_journal_is_neither_played_back_nor_written) {
  Fill(5);
  const std::string right = AllOf(files_.CopyOfBytes());
  files_[2].bytes.assign(8192, 0xD9);
  EXPECT_EQ(AllOf(files_.CopyOfBytes()), right);
}

TEST_F(FileSealTest, a_changed_key_opens_the_file_and_the_one_before_does_not) {
  Fill(20);
  const std::string right = AllOf(files_.CopyOfBytes());
  {
    Opened opened(files_, KeysOf("a"));
    ASSERT_TRUE(ChangeKey(*opened.database, KeyOf('b')).ok());
    EXPECT_EQ(All(opened), right);
    ASSERT_TRUE(ChangeKey(*opened.database, KeyOf('c')).ok());
    ASSERT_TRUE(Put(opened, 1, "after").ok());
  }
  EXPECT_THAT(AllOf(files_.CopyOfBytes(), "c"), HasSubstr("1=after"));
  for (const char* old : {"a", "b", "ab"}) {
    const Opened opened(files_, KeysOf(old));
    EXPECT_EQ(opened.error.code(), StatusCode::kWrongKey);
  }
  EXPECT_THAT(AllOf(files_.CopyOfBytes(), "bc"), HasSubstr("1=after"));
}

TEST_F(FileSealTest, a_key_of_a_plain_file_can_not_be_changed) {
  const Opened opened(files_, {});
  EXPECT_EQ(ChangeKey(*opened.database, KeyOf('b')).code(), StatusCode::kUnsupported);
}

// The machine stops after any write: one of the two keys opens what is there, and nothing is lost.
TEST_F(FileSealTest, a_change_of_the_key_may_be_cut_off_after_any_write) {
  Fill(20);
  const std::string right = AllOf(files_.CopyOfBytes());
  std::vector<MemoryFiles> images;
  {
    Opened opened(files_, KeysOf("a"));
    images.push_back(files_.CopyOfBytes());
    files_.after_write = [&] { images.push_back(files_.CopyOfBytes()); };
    ASSERT_TRUE(ChangeKey(*opened.database, KeyOf('b')).ok());
    files_.after_write = nullptr;
  }
  ASSERT_EQ(images.size(), 3u);  // and before the first one
  int by_both = 0;
  for (const MemoryFiles& image : images) {
    const bool by_old = AllOf(image.CopyOfBytes(), "a") == right;
    const bool by_new = AllOf(image.CopyOfBytes(), "b") == right;
    EXPECT_TRUE(by_old || by_new);
    if (!(by_old && by_new)) continue;
    ++by_both;
    // The key with which it is opened and written next is the only one then.
    for (const auto& [used, other] : {std::pair("a", "b"), std::pair("b", "a")}) {
      MemoryFiles next = image.CopyOfBytes();
      {
        Opened opened(next, KeysOf(used));
        ASSERT_TRUE(Put(opened, 1, "next").ok());
      }
      EXPECT_THAT(AllOf(next.CopyOfBytes(), used), HasSubstr("1=next"));
      EXPECT_THAT(AllOf(next.CopyOfBytes(), other), HasSubstr("error: the key does not open"));
    }
  }
  EXPECT_EQ(by_both, 1);
  EXPECT_NE(AllOf(images[0].CopyOfBytes(), "a"), AllOf(images[0].CopyOfBytes(), "b"));
}

// The write that has no room is cut short, in each of its bytes.
TEST_F(FileSealTest, a_change_of_the_key_without_room_changes_nothing) {
  Fill(20);
  const std::string right = AllOf(files_.CopyOfBytes());
  for (std::int64_t room = 0; room < 250; room += 7) {
    MemoryFiles files = files_.CopyOfBytes();
    Status status;
    {
      Opened opened(files, KeysOf("a"));
      files.room = room;
      status = ChangeKey(*opened.database, KeyOf('b'));
      files.room.reset();
      EXPECT_EQ(All(opened), right);
    }
    EXPECT_EQ(AllOf(files.CopyOfBytes(), status.ok() ? "b" : "a"), right) << room;
    MemoryFiles again = files.CopyOfBytes();
    Opened opened(again, KeysOf(status.ok() ? "b" : "a"));
    ASSERT_TRUE(Put(opened, 99, "goes on").ok());
  }
}

// Cut off after any write of its first moments, a new file opens with its key.
TEST_F(FileSealTest, making_a_file_may_be_cut_off_after_any_write) {
  std::vector<MemoryFiles> images;
  files_.after_write = [&] { images.push_back(files_.CopyOfBytes()); };
  Fill(2);
  ASSERT_GT(images.size(), 4u);
  for (const MemoryFiles& image : images) {
    MemoryFiles next = image.CopyOfBytes();
    Opened opened(next, KeysOf("a"));
    ASSERT_NE(opened.database, nullptr) << opened.error.message();
    ASSERT_TRUE(Put(opened, 7, "goes on").ok());
  }
}

TEST_F(FileSealTest, a_file_that_was_cut_off_is_no_new_one) {
  Fill(20);
  for (const std::size_t size :
       {8191u, 5000u, 4096u, 4095u, 2000u, 600u, 512u, 100u, 16u, 15u, 1u}) {
    MemoryFiles cut = files_.CopyOfBytes();
    cut.database().bytes.resize(size);
    const std::vector<std::uint8_t> before = cut.database().bytes;
    const Opened opened(cut, KeysOf("a"));
    EXPECT_EQ(opened.error.code(), StatusCode::kCorrupt) << size;
    EXPECT_THAT(opened.error.message(), HasSubstr("ends before its first page"));
    EXPECT_EQ(cut.database().bytes, before);
  }
}

TEST_F(FileSealTest, an_export_is_a_plain_file_and_an_import_of_one_is_encrypted) {
  Fill(30);
  std::string right;
  MemoryFiles exported("sealed");
  {
    Opened opened(files_, KeysOf("a"));
    right = All(opened);
    const auto size = opened.database->BeginExport();
    ASSERT_TRUE(size.has_value());
    const auto bytes = opened.database->ReadExport(0, static_cast<std::uint32_t>(*size));
    ASSERT_TRUE(bytes.has_value());
    exported.database().bytes.assign(bytes->begin(), bytes->end());
    opened.database->EndExport();
  }
  ASSERT_TRUE(Holds(exported.database(), kMarker));
  MemoryFiles plain = exported.CopyOfBytes();
  {
    Opened opened(plain, {});
    ASSERT_NE(opened.database, nullptr) << opened.error.message();
    EXPECT_EQ(All(opened), right);
    ASSERT_TRUE(opened.Run("VACUUM").ok());
    const auto check = opened.database->CheckPages(1, 10'000, false);
    ASSERT_TRUE(check.has_value());
    EXPECT_TRUE(check->damaged.empty());
    EXPECT_EQ(check->problem, "");
  }
  // Both kinds of plain files: with the room of an encrypted one, and after VACUUM without.
  auto source = FileVfs::Register("seal-source", plain.Host());
  MemoryFiles target("sealed");
  {
    Opened opened(target, KeysOf("b"));
    const Status status = opened.database->ImportFrom({.path = "sealed", .vfs = "seal-source"});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(All(opened), right);
    ASSERT_TRUE(opened.database->Flush().ok());
    const auto check = opened.database->CheckPages(1, 10'000, false);
    ASSERT_TRUE(check.has_value());
    EXPECT_TRUE(check->damaged.empty());
  }
  EXPECT_FALSE(Holds(target.database(), kMarker));
  EXPECT_EQ(AllOf(target.CopyOfBytes(), "b"), right);
  // An encrypted file can be imported itself.
  auto sealed = FileVfs::Register("seal-sealed", target.Host());
  MemoryFiles last("sealed");
  Opened opened(last, {});
  ASSERT_TRUE(
      opened.database->ImportFrom({.path = "sealed", .vfs = "seal-sealed", .keys = KeysOf("b")})
          .ok());
  EXPECT_EQ(All(opened), right);
}

TEST_F(FileSealTest, what_can_be_read_of_a_damaged_file_is_salvaged_with_its_key) {
  Fill(120);
  std::vector<std::string> after;
  MemoryFiles image = FillLog(&after, 3);
  image.database().bytes[image.database().bytes.size() - 2 * kPage + 9] ^= 1;
  auto vfs = FileVfs::Register("seal-salvage", image.Host());
  auto target = OpenDatabase({.path = ":memory:"});
  const auto salvage = transfer::SalvageRows(
      **target, {.path = "sealed", .vfs = "seal-salvage", .keys = KeysOf("a")}, 0);
  ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
  std::int64_t rows = 0;
  ASSERT_TRUE((*target)
                  ->Run("SELECT count(*), max(length(bytes)) FROM content", {},
                        [&](const Row& row) {
                          rows = row.Int(0);
                          EXPECT_GT(row.Int(1), 9'000);
                        })
                  .ok());
  EXPECT_GE(rows, 110);
  EXPECT_LE(rows, 120);
}

}  // namespace
}  // namespace keepsake::sql
