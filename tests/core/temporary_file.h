// A database file for a test that reads its bytes, or opens it again.
#ifndef KEEPSAKE_TESTS_CORE_TEMPORARY_FILE_H_
#define KEEPSAKE_TESTS_CORE_TEMPORARY_FILE_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace keepsake {

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

}  // namespace keepsake

#endif  // KEEPSAKE_TESTS_CORE_TEMPORARY_FILE_H_
