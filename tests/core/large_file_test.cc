// Files of more than 1 and more than 4 GiB, of which only what was written takes memory: the rest
// are free pages, made when they are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "file_vfs_test_files.h"
#include "sql/file_sums.h"
#include "sql/sqlite_database.h"
#include "transfer/file_salvage.h"

namespace keepsake::sql {
namespace {

constexpr std::uint32_t kPage = 4096;
constexpr std::uint32_t kLockPage = 262'145, kPages = (1U << 20) + 100;
// A trunk page of the list of free pages, and the leaves it names.
constexpr std::uint32_t kLeaves = 1000, kGroup = kLeaves + 1;

void PutBig(std::uint8_t* at, std::uint32_t word) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(word >> (24 - 8 * i));
}

class LargeFiles {
 public:
  // What `small` holds, and free pages behind it.
  explicit LargeFiles(const std::vector<std::uint8_t>& small)
      : used_(static_cast<std::uint32_t>(small.size() / kPage)) {
    for (std::uint32_t i = 0; i < used_; ++i) {
      pages_[i + 1].assign(small.begin() + i * kPage, small.begin() + (i + 1) * kPage);
    }
    std::vector<std::uint8_t>& first = pages_[1];
    PutBig(first.data() + 28, kPages);
    PutBig(first.data() + 32, Free(0));
    PutBig(first.data() + 36, FreeCount());
    PutSum(first, 1);
  }

  FileHost Host() {
    return FileHost{.context = this,
                    .lookup = Lookup,
                    .read = Read,
                    .write = Write,
                    .truncate = Truncate,
                    .flush = [](void*, int) { return 0; },
                    .size = Size,
                    .check = [](void*, int) { return 0; },
                    .random = [](void*, void* into, int size) { std::memset(into, 5, size); },
                    .now_ms = [](void*) { return 1'700'000'000'000.0; }};
  }

  std::uint32_t last_written() const { return pages_.rbegin()->first; }
  // Flips a bit in a page that is nothing but a part of a value, and tells which.
  std::uint32_t DamageValue() {
    const auto found = std::ranges::find_if(
        pages_, [](const auto& page) { return page.second[4] == 'v' && page.second[4000] == 'v'; });
    found->second[2000] ^= 1;
    return found->first;
  }

 private:
  static LargeFiles& Self(void* context) { return *static_cast<LargeFiles*>(context); }

  // The free pages, of which the last is taken first. The page of locks is none.
  std::uint32_t FreeCount() const { return kPages - used_ - 1; }
  std::uint32_t Free(std::uint32_t index) const {
    const std::uint32_t page = kPages - index;
    return page > kLockPage ? page : page - 1;
  }

  std::vector<std::uint8_t> PageAt(std::uint32_t number) const {
    if (const auto found = pages_.find(number); found != pages_.end()) return found->second;
    std::vector<std::uint8_t> page(kPage);
    if (number == kLockPage) return page;
    const std::uint32_t index = kPages - number - (number < kLockPage ? 1 : 0);
    if (index % kGroup == 0) {
      const std::uint32_t leaves = std::min(kLeaves, FreeCount() - index - 1);
      PutBig(page.data(), index + kGroup < FreeCount() ? Free(index + kGroup) : 0);
      PutBig(page.data() + 4, leaves);
      for (std::uint32_t i = 0; i < leaves; ++i) {
        PutBig(page.data() + 8 + 4 * i, Free(index + 1 + i));
      }
    }
    PutSum(page, number);
    return page;
  }

  static int Lookup(void*, const char* name) {
    const std::string_view path(name);
    return path.ends_with("-wal") ? 1 : path.ends_with("-journal") ? 2 : 0;
  }

  static int Read(void* context, int handle, void* into, int size, double offset) {
    if (handle != 0) {
      const std::vector<std::uint8_t>& bytes = Self(context).others_[handle];
      const auto from = std::min(bytes.size(), static_cast<std::size_t>(offset));
      const auto count = std::min(bytes.size() - from, static_cast<std::size_t>(size));
      if (count > 0) std::memcpy(into, bytes.data() + from, count);
      return static_cast<int>(count);
    }
    auto at = static_cast<std::uint64_t>(offset);
    int count = 0;
    while (count < size && at < std::uint64_t{kPages} * kPage) {
      const auto page = Self(context).PageAt(static_cast<std::uint32_t>(at / kPage) + 1);
      const auto within = static_cast<int>(at % kPage);
      const int part = std::min(size - count, static_cast<int>(kPage) - within);
      std::memcpy(static_cast<std::uint8_t*>(into) + count, page.data() + within,
                  static_cast<std::size_t>(part));
      count += part;
      at += static_cast<std::uint64_t>(part);
    }
    return count;
  }

  static int Write(void* context, int handle, const void* from, int size, double offset) {
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    if (handle != 0) {
      std::vector<std::uint8_t>& other = Self(context).others_[handle];
      const auto at = static_cast<std::size_t>(offset), count = static_cast<std::size_t>(size);
      other.resize(std::max(other.size(), at + count));
      std::copy_n(bytes, count, other.begin() + static_cast<std::ptrdiff_t>(at));
      return size;
    }
    auto at = static_cast<std::uint64_t>(offset);
    for (int count = 0; count < size;) {
      const auto number = static_cast<std::uint32_t>(at / kPage) + 1;
      const auto within = static_cast<int>(at % kPage);
      const int part = std::min(size - count, static_cast<int>(kPage) - within);
      std::vector<std::uint8_t> page = Self(context).PageAt(number);
      std::copy_n(bytes + count, part, page.begin() + within);
      Self(context).pages_[number] = std::move(page);
      count += part;
      at += static_cast<std::uint64_t>(part);
    }
    return size;
  }

  static int Truncate(void* context, int handle, double size) {
    if (handle != 0) Self(context).others_[handle].resize(static_cast<std::size_t>(size));
    return 0;
  }

  static double Size(void* context, int handle) {
    return handle == 0 ? static_cast<double>(kPages) * kPage
                       : static_cast<double>(Self(context).others_[handle].size());
  }

  std::uint32_t used_;
  std::map<std::uint32_t, std::vector<std::uint8_t>> pages_;
  std::vector<std::uint8_t> others_[3];
};

class LargeFileTest : public testing::Test {
 protected:
  static std::vector<std::uint8_t> SmallFile() {
    MemoryFiles files("large");
    auto vfs = FileVfs::Register("large-small", files.Host());
    EXPECT_TRUE((*OpenDatabase({.path = "large", .vfs = "large-small"}))->Flush().ok());
    return files.database().bytes;
  }

  void Open() { database_ = *OpenDatabase({.path = "large", .vfs = "large", .verifies = true}); }

  void ExpectHealthy(std::uint32_t first, std::uint32_t count) {
    const auto check = database_->CheckPages(first, count, false);
    ASSERT_TRUE(check.has_value()) << check.error().message();
    EXPECT_EQ(check->pages, kPages);
    EXPECT_TRUE(check->damaged.empty()) << check->damaged[0].number;
    EXPECT_EQ(check->problem, "");
  }

  // Rows whose pages are the last of the file.
  void Write() {
    const std::string value(100'000, 'v');
    for (std::int64_t i = 1; i <= 20; ++i) {
      ASSERT_TRUE(database_
                      ->Run("INSERT INTO store_kv(item_id, ns, key, value, created_at, updated_at,"
                            " ttl) VALUES(?1, 'n' || char(31), ?1, ?2, 1, 1, 0)",
                            {Param(i), Param(std::string_view(value))})
                      .ok());
    }
  }

  std::int64_t Bytes() {
    std::int64_t bytes = -1;
    (void)database_->Run("SELECT sum(length(value)) FROM store_kv", {},
                         [&](const Row& row) { bytes = row.Int(0); });
    return bytes;
  }

  LargeFiles files_{SmallFile()};
  std::unique_ptr<FileVfs> vfs_ = *FileVfs::Register("large", files_.Host());
  std::unique_ptr<Database> database_;
};

TEST_F(LargeFileTest, a_healthy_file_of_more_than_4_GiB_is_healthy) {
  Open();
  ExpectHealthy(1, 10);
  ExpectHealthy(kLockPage - 100, 200);
  // And whether all fits together, which comes last.
  ExpectHealthy((1U << 20) - 100, 1000);
}

TEST_F(LargeFileTest, the_page_of_locks_is_not_written_where_pages_are_accepted) {
  Open();
  const auto check = database_->CheckPages(kLockPage - 1, 3, true);
  ASSERT_TRUE(check.has_value()) << check.error().message();
  EXPECT_LT(files_.last_written(), kLockPage);
}

TEST_F(LargeFileTest, what_is_written_beyond_4_GiB_is_read_again) {
  Open();
  Write();
  ExpectHealthy(1, 1);  // moves the log
  EXPECT_EQ(files_.last_written(), kPages);
  database_.reset();
  Open();
  EXPECT_EQ(Bytes(), 2'000'000);
  ExpectHealthy((1U << 20) - 100, 1000);
}

TEST_F(LargeFileTest, a_damaged_file_of_more_than_4_GiB_is_salvaged) {
  Open();
  Write();
  database_.reset();
  const std::uint32_t page = files_.DamageValue();
  ASSERT_GT(page, (1U << 20) - 1000);
  auto target = *OpenDatabase({.path = ":memory:"});
  const auto salvage = transfer::SalvageRows(*target, {.path = "large", .vfs = "large"}, 0);
  ASSERT_TRUE(salvage.has_value()) << salvage.error().message();
  ASSERT_EQ(salvage->damaged.size(), 1u);
  EXPECT_EQ(salvage->damaged[0].number, page);
  EXPECT_EQ(salvage->lost_item_count, 1u);
  database_ = std::move(target);
  EXPECT_EQ(Bytes(), 1'900'000);
}

}  // namespace
}  // namespace keepsake::sql
