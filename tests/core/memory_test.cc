#include "keepsake/memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "checkpointer_contract.h"

namespace keepsake {
namespace {

using testing::At;

// A path in a folder of its own, which goes with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                (name + std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    std::filesystem::create_directory(folder_);
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const { return (folder_ / "memory.db").string(); }
  // Whether a file of the folder has the text.
  bool Holds(const std::string& text) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(stream), {});
      if (bytes.contains(text)) return true;
    }
    return false;
  }

 private:
  std::filesystem::path folder_;
};

TEST(Memory, both_tiers_are_there_after_reopening_the_file) {
  const TemporaryFile file("memory_test_");
  {
    Memory memory = Memory::Open({.path = file.path()}).value();
    ASSERT_TRUE(memory.store().Put({"a"}, "k", "1").ok());
    ASSERT_TRUE(memory.checkpointer().Put(At("t", "", "1").New("a", "1", "\"x\"")).ok());
  }
  Memory memory = Memory::Open({.path = file.path()}).value();
  EXPECT_EQ(memory.store().Get({"a"}, "k").value()->value, "1");
  EXPECT_TRUE(memory.checkpointer().GetTuple({"t", "", "1"}).value().has_value());
}

TEST(Memory, forgets_in_every_byte_of_the_folder) {
  const TemporaryFile file("memory_test_");
  Memory memory = Memory::Open({.path = file.path()}).value();
  ASSERT_TRUE(memory.store().Put({"user", "ada"}, "k", "\"SECRET\"").ok());
  ASSERT_TRUE(memory.checkpointer().Put(At("t", "", "1").New("a", "1", "\"SECRET\"")).ok());
  ASSERT_TRUE(memory.store().Put({"user", "bob"}, "k", "1").ok());
  EXPECT_TRUE(file.Holds("SECRET"));
  ASSERT_TRUE(memory.erasures().Put({{"user", "ada"}, "case 7", 0}).ok());
  const Erasure erasure{.id = "1", .digest = "", .namespaces = {{"user", "ada"}}, .threads = {"t"}};
  EXPECT_EQ(memory.Forget(erasure).error().code(), StatusCode::kHeld);
  ASSERT_TRUE(memory.erasures().Release({"user", "ada"}).ok());
  const Result<Erased> erased = memory.Forget(erasure);
  ASSERT_TRUE(erased.has_value()) << erased.error().message();
  EXPECT_EQ(erased->items, 1U);
  EXPECT_EQ(erased->checkpoints, 1U);
  EXPECT_FALSE(file.Holds("SECRET"));
  EXPECT_TRUE(memory.store().Get({"user", "bob"}, "k").value().has_value());
}

TEST(Memory, what_cannot_be_opened_is_an_error) {
  const TemporaryFile file("memory_test_");
  EXPECT_EQ(Memory::Open({.path = file.path() + "/none/x.db"}).error().code(),
            StatusCode::kCannotOpen);
  const Result<Memory> refused = Memory::Open({.path = ":memory:"}, {.index = IndexConfig{}});
  EXPECT_FALSE(refused.has_value()) << "an index without dimensions";
}

TEST(Memory, two_threads_use_a_memory_each) {
  const auto put_many = [](bool* done) {
    Memory memory = Memory::Open({.path = ":memory:"}).value();
    *done = true;
    for (int i = 0; i < 200; ++i) {
      *done = *done && memory.store().Put({"a"}, std::to_string(i), "{\"text\":\"tea\"}").ok();
    }
  };
  bool one = false, other = false;
  std::thread thread(put_many, &one);
  put_many(&other);
  thread.join();
  EXPECT_TRUE(one);
  EXPECT_TRUE(other);
}

}  // namespace
}  // namespace keepsake
