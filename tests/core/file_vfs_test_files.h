// Files in memory behind a FileHost, which can be told to fail.
#ifndef KEEPSAKE_TESTS_CORE_FILE_VFS_TEST_FILES_H_
#define KEEPSAKE_TESTS_CORE_FILE_VFS_TEST_FILES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sql/file_host.h"
#include "sql/file_vfs.h"

namespace keepsake::sql {

class MemoryFiles {
 public:
  struct File {
    std::string name;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> before_truncation;  // what was there, if it was not flushed since
    int writes = 0;
    int flushes = 0;
    int checks = 0;
    bool changed_outside = false;
  };

  // The three files of a database.
  explicit MemoryFiles(const std::string& name) {
    for (const char* suffix : {"", "-wal", "-journal"})
      files_.push_back(File{.name = name + suffix});
  }

  void Add(const std::string& name, std::vector<std::uint8_t> bytes) {
    files_.push_back(File{.name = name, .bytes = std::move(bytes)});
  }

  File& operator[](std::size_t index) { return files_[index]; }
  File& database() { return files_[0]; }
  File& log() { return files_[1]; }
  int total_writes() const {
    int writes = 0;
    for (const File& file : files_) writes += file.writes;
    return writes;
  }

  // How many more bytes may be written; the write that exceeds it is cut short.
  std::optional<std::int64_t> room;
  // What writes answer instead of writing.
  std::optional<int> write_error;
  bool flush_fails = false;
  // Called when a write is done, before SQLite hears of it.
  std::function<void()> after_write;

  // Only the bytes, as a machine that starts again would find them.
  MemoryFiles CopyOfBytes() const {
    MemoryFiles copy(files_[0].name);
    for (std::size_t i = 0; i < copy.files_.size(); ++i) copy.files_[i].bytes = files_[i].bytes;
    return copy;
  }

  bool HasUnflushedTruncation() const {
    return std::ranges::any_of(
        files_, [](const File& file) { return file.before_truncation.size() > file.bytes.size(); });
  }

  // The same where the file system lost every truncation that was not flushed.
  MemoryFiles CopyWithoutTruncations() const {
    MemoryFiles copy = CopyOfBytes();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const std::vector<std::uint8_t>& before = files_[i].before_truncation;
      std::vector<std::uint8_t>& bytes = copy.files_[i].bytes;
      if (before.size() > bytes.size()) {
        bytes.insert(bytes.end(), before.begin() + static_cast<std::ptrdiff_t>(bytes.size()),
                     before.end());
      }
    }
    return copy;
  }

  FileHost Host() {
    return FileHost{.context = this,
                    .lookup = Lookup,
                    .read = Read,
                    .write = Write,
                    .truncate = Truncate,
                    .flush = Flush,
                    .size = Size,
                    .check = Check,
                    .random = Random,
                    .now_ms = [](void*) { return 1'700'000'000'000.0; }};
  }

 private:
  static MemoryFiles& Self(void* context) { return *static_cast<MemoryFiles*>(context); }
  static File& At(void* context, int handle) {
    return Self(context).files_[static_cast<std::size_t>(handle)];
  }

  static int Lookup(void* context, const char* name) {
    const std::vector<File>& files = Self(context).files_;
    const auto found =
        std::ranges::find_if(files, [&](const File& file) { return file.name == name; });
    return found == files.end() ? kFileFailed : static_cast<int>(found - files.begin());
  }

  static int Read(void* context, int handle, void* into, int size, double offset) {
    const std::vector<std::uint8_t>& bytes = At(context, handle).bytes;
    const auto from = std::min(bytes.size(), static_cast<std::size_t>(offset));
    const auto count = std::min(bytes.size() - from, static_cast<std::size_t>(size));
    if (count > 0) std::memcpy(into, bytes.data() + from, count);
    return static_cast<int>(count);
  }

  static int Write(void* context, int handle, const void* from, int size, double offset) {
    MemoryFiles& self = Self(context);
    if (self.write_error) return *self.write_error;
    auto count = static_cast<std::size_t>(size);
    if (self.room) {
      count = static_cast<std::size_t>(std::min<std::int64_t>(size, *self.room));
      *self.room -= static_cast<std::int64_t>(count);
    }
    File& file = At(context, handle);
    const auto begin = static_cast<std::size_t>(offset);
    if (file.bytes.size() < begin + count) file.bytes.resize(begin + count);
    if (count > 0) std::memcpy(file.bytes.data() + begin, from, count);
    ++file.writes;
    if (self.after_write) self.after_write();
    return static_cast<int>(count);
  }

  static int Truncate(void* context, int handle, double size) {
    File& file = At(context, handle);
    if (file.bytes.size() > file.before_truncation.size()) file.before_truncation = file.bytes;
    file.bytes.resize(static_cast<std::size_t>(size));
    return 0;
  }

  static int Flush(void* context, int handle) {
    ++At(context, handle).flushes;
    if (!Self(context).flush_fails) At(context, handle).before_truncation.clear();
    return Self(context).flush_fails ? static_cast<int>(kFileFailed) : 0;
  }

  static double Size(void* context, int handle) {
    return static_cast<double>(At(context, handle).bytes.size());
  }

  static int Check(void* context, int handle) {
    File& file = At(context, handle);
    ++file.checks;
    return file.changed_outside ? static_cast<int>(kFileChanged) : 0;
  }

  static void Random(void* context, void* into, int size) {
    std::uint8_t* bytes = static_cast<std::uint8_t*>(into);
    for (int i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(Self(context).random_());
  }

  std::vector<File> files_;
  std::mt19937 random_{20261121};
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_TESTS_CORE_FILE_VFS_TEST_FILES_H_
