#include "text/unicode.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "json/utf8.h"

namespace keepsake::search {
namespace {

#include "text/unicode_tables.inc"

constexpr char32_t kFirstInTables = 0x80;

struct ClassRun {
  char32_t first;
  CharacterClass kind;
};

struct FoldRun {
  char32_t first;
  std::uint32_t count;
  std::uint32_t stride;
  std::uint32_t step;  // of the foldings
  char32_t folded;     // of the first
};

// The tables unpacked, which is done once.
struct Tables {
  std::vector<ClassRun> classes;
  std::vector<FoldRun> folds;
  std::vector<std::pair<char32_t, std::string>> to_several;
  FoldBlocks blocks;

  Tables() {
    UnpackClasses();
    UnpackFolds();
    UnpackSeveral();
    blocks.set(0);
    blocks.set(1);  // ASCII
    for (const FoldRun& run : folds) {
      for (std::uint32_t i = 0; i < run.count; ++i) NoteFolded(run.first + i * run.stride);
    }
    for (const auto& [code_point, folded] : to_several) NoteFolded(code_point);
  }

 private:
  void NoteFolded(char32_t code_point) {
    if (code_point / kFoldBlock < blocks.size()) blocks.set(code_point / kFoldBlock);
  }

  void UnpackClasses() {
    char32_t first = kFirstInTables;
    ByteReader reader(kClassRuns);
    while (!reader.done()) {
      const auto run = static_cast<std::uint32_t>(reader.Varint());
      classes.push_back({first, static_cast<CharacterClass>(run % 8)});
      first += run / 8;
    }
    classes.push_back({first, CharacterClass::kNone});
  }

  void UnpackFolds() {
    char32_t first = kFirstInTables;
    ByteReader reader(kFoldRuns);
    while (!reader.done()) {
      const auto run = static_cast<std::uint32_t>(reader.Varint());
      first += run / 8;
      const auto count = static_cast<std::uint32_t>(reader.Varint());
      const auto zigzag = static_cast<std::uint32_t>(reader.Varint());
      const char32_t folded = zigzag % 2 == 0 ? first + zigzag / 2 : first - (zigzag / 2 + 1);
      folds.push_back({first, count, run / 4 % 2 + 1, run % 4, folded});
    }
  }

  void UnpackSeveral() {
    char32_t code_point = kFirstInTables;
    ByteReader reader(kFoldToSeveral);
    while (!reader.done()) {
      const auto entry = static_cast<std::uint32_t>(reader.Varint());
      code_point += entry / 4;
      to_several.emplace_back(code_point, TextOf(reader.Take(entry % 4)));
    }
  }
};

const Tables& UnicodeTables() {
  static const Tables tables;
  return tables;
}

CharacterClass ClassOfAscii(char32_t c) {
  if (c >= '0' && c <= '9') return CharacterClass::kDigit;
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter ? CharacterClass::kLetter : CharacterClass::kNone;
}

char32_t FoldedToOne(char32_t code_point) {
  const auto& folds = UnicodeTables().folds;
  const auto next = std::ranges::upper_bound(folds, code_point, {}, &FoldRun::first);
  if (next == folds.begin()) return code_point;
  const FoldRun& run = *std::prev(next);
  const std::uint32_t distance = code_point - run.first;
  if (distance % run.stride == 0 && distance / run.stride < run.count) {
    return run.folded + distance / run.stride * run.step;
  }
  return code_point;
}

}  // namespace

CharacterClass ClassOf(char32_t code_point) {
  if (code_point < kFirstInTables) return ClassOfAscii(code_point);
  const auto& classes = UnicodeTables().classes;
  return std::prev(std::ranges::upper_bound(classes, code_point, {}, &ClassRun::first))->kind;
}

void AppendFolded(char32_t code_point, std::string& out) {
  if (code_point < kFirstInTables) {
    const bool is_upper = code_point >= 'A' && code_point <= 'Z';
    out += static_cast<char>(is_upper ? code_point + ('a' - 'A') : code_point);
    return;
  }
  const auto& several = UnicodeTables().to_several;
  const auto found = std::ranges::lower_bound(several, code_point, {},
                                              [](const auto& entry) { return entry.first; });
  if (found != several.end() && found->first == code_point) {
    out += found->second;
  } else {
    json::AppendCodePoint(FoldedToOne(code_point), out);
  }
}

const FoldBlocks& FoldedBlocks() { return UnicodeTables().blocks; }

Character FirstCharacter(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  if (byte(0) < 0x80) return {byte(0), 1};
  const auto tail = [&](std::size_t i) { return byte(i) & 0x3F; };
  switch (json::Utf8CharacterLength(text)) {
    case 2:
      return {(byte(0) & 0x1F) << 6 | tail(1), 2};
    case 3:
      return {(byte(0) & 0x0F) << 12 | tail(1) << 6 | tail(2), 3};
    case 4:
      return {(byte(0) & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
    default:
      return {0xFFFD, 1};
  }
}

}  // namespace keepsake::search
