#include "vectors/field_columns.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "json/json.h"
#include "vectors/kernels.h"

namespace keepsake::search {
namespace {

using json::Filter;
using Operator = Filter::Operator;

constexpr std::size_t kMaxAsked = 32;
// A column that is written more often than this, and than it has slots, is no longer asked for.
constexpr std::size_t kMinIdleWrites = 10'000;
// Beyond so many operands looking each hash up is quicker.
constexpr std::size_t kMaxCompared = 16;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What is no number, and a member that is missing.
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint16_t kMissing = 0, kNull = 1, kFalse = 2, kTrue = 3, kArray = 4, kObject = 5;

std::uint16_t Folded(std::uint64_t hash) {
  hash *= 0x9E37'79B9'7F4A'7C15;
  return static_cast<std::uint16_t>(kObject + 1 + (hash >> 32) % (0xFFFF - kObject));
}

std::uint16_t HashOfText(std::string_view text) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3;
  return Folded(hash);
}

std::uint16_t HashOfString(std::string_view raw) {
  if (raw.find('\\') != raw.npos) return HashOfText(json::Unescape(raw));
  return HashOfText(raw.size() < 2 ? raw : raw.substr(1, raw.size() - 2));
}

// The same for what json::Equal() calls equal.
std::uint16_t HashOf(std::string_view raw) {
  switch (json::KindOf(raw)) {
    case json::Kind::kNull:
      return kNull;
    case json::Kind::kBoolean:
      return raw.starts_with('t') ? kTrue : kFalse;
    case json::Kind::kNumber:
      return Folded(std::bit_cast<std::uint64_t>(json::ToDouble(raw) + 0.0));  // −0 is 0
    case json::Kind::kString:
      return HashOfString(raw);
    case json::Kind::kArray:
      return kArray;
    case json::Kind::kObject:
      return kObject;
  }
  return kMissing;
}

// Rounds as the other side of a comparison does, so that order stays, but for what is equal.
float NumberOf(std::string_view raw) {
  return json::KindOf(raw) == json::Kind::kNumber ? static_cast<float>(json::ToDouble(raw))
                                                  : kNoNumber;
}

std::optional<std::string_view> MemberAt(const std::vector<std::string>& path,
                                         std::string_view value) {
  std::optional<std::string_view> member = json::Root(value);
  for (const std::string& name : path) {
    if (member) member = json::FindMember(*member, name);
  }
  return member;
}

std::vector<std::string> PathOf(const Filter::Test& test) {
  return {test.path.begin(), test.path.end()};
}

// Bits of a page that pass.
template <typename BitsOf64>
ChunkBits BitsOf(BitsOf64 bits_of_64) {
  ChunkBits bits;
  for (std::size_t w = 0; w < bits.size(); ++w) bits[w] = bits_of_64(w * 64);
  return bits;
}

ChunkBits BitsOfAny(const std::uint16_t* hashes, const std::vector<std::uint16_t>& wanted) {
  return BitsOf([&](std::size_t at) {
    std::uint64_t word = 0;
    for (const std::uint16_t hash : wanted) word |= EqualBits(hashes + at, hash);
    return word;
  });
}

ChunkBits BitsIn(const std::uint16_t* hashes, const std::vector<bool>& wanted) {
  return BitsOf([&](std::size_t at) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 64; ++i) word |= std::uint64_t{wanted[hashes[at + i]]} << i;
    return word;
  });
}

}  // namespace

FieldColumns::Page& FieldColumns::Column::PageOf(std::size_t chunk) {
  Page& page = pages[chunk];
  if (kind == Kind::kHash) {
    page.hashes.resize(kChunkSlots, kMissing);
  } else {
    page.numbers.resize(kChunkSlots, kNoNumber);
  }
  return page;
}

FieldColumns::Page& FieldColumns::Column::MakeRoom(Slot slot) {
  Page& page = PageOf(static_cast<std::size_t>(slot / kChunkSlots));
  ++page.living;
  ++slots;
  return page;
}

void FieldColumns::Column::Set(Slot slot, std::string_view value, std::string_view encoded_ns) {
  Page& page = PageOf(static_cast<std::size_t>(slot / kChunkSlots));
  const std::size_t at = slot % kChunkSlots;
  if (path.empty()) {
    page.hashes[at] = HashOfText(encoded_ns);
    return;
  }
  const std::optional<std::string_view> member = MemberAt(path, value);
  if (kind == Kind::kHash) {
    page.hashes[at] = member ? HashOf(*member) : kMissing;
  } else {
    page.numbers[at] = member ? NumberOf(*member) : kNoNumber;
  }
}

void FieldColumns::Column::Add(Slot slot, std::string_view value) {
  Page& page = MakeRoom(slot);
  const std::optional<std::string_view> member = MemberAt(path, value);
  if (kind == Kind::kHash) {
    page.hashes[slot % kChunkSlots] = member ? HashOf(*member) : kMissing;
  } else {
    page.numbers[slot % kChunkSlots] = member ? NumberOf(*member) : kNoNumber;
  }
}

void FieldColumns::Column::Remove(Slot slot) {
  const auto page = pages.find(static_cast<std::size_t>(slot / kChunkSlots));
  if (page == pages.end()) return;
  --slots;
  if (--page->second.living == 0) pages.erase(page);
}

void FieldColumns::Column::Move(Slot from, Slot to) {
  const auto page = pages.find(static_cast<std::size_t>(from / kChunkSlots));
  if (page == pages.end()) return;
  Page& target = MakeRoom(to);
  if (kind == Kind::kHash) {
    target.hashes[to % kChunkSlots] = page->second.hashes[from % kChunkSlots];
  } else {
    target.numbers[to % kChunkSlots] = page->second.numbers[from % kChunkSlots];
  }
  Remove(from);
}

std::optional<FieldColumns::Kind> FieldColumns::KindFor(const Filter::Test& test) {
  switch (test.op) {
    case Operator::kEq:
    case Operator::kIn:
      return Kind::kHash;
    case Operator::kGt:
    case Operator::kGte:
    case Operator::kLt:
    case Operator::kLte:
      if (json::KindOf(test.operands.front()) == json::Kind::kNumber) return Kind::kNumber;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

const FieldColumns::Column* FieldColumns::Find(const Path& path, Kind kind) const {
  const auto column =
      std::ranges::find_if(columns_, [&](const Column& c) { return c.Is(path, kind); });
  return column == columns_.end() ? nullptr : &*column;
}

bool FieldColumns::Begin(const Filter& filter) {
  ++clock_;
  std::size_t asked = 0;
  for (const Filter::Test& test : filter.Tests()) {
    const std::optional<Kind> kind = KindFor(test);
    if (!kind) continue;
    Ask(PathOf(test), *kind);
    if (++asked == kMaxColumns) break;
  }
  return std::ranges::any_of(columns_, [](const Column& column) { return !column.is_filled; });
}

void FieldColumns::Ask(Path path, Kind kind) {
  if (const Column* found = Find(path, kind)) {
    Column& column = columns_[static_cast<std::size_t>(found - columns_.data())];
    column.used_at = clock_;
    column.writes = 0;
    return;
  }
  const auto before = std::ranges::find_if(
      asked_, [&](const Asked& asked) { return asked.kind == kind && asked.path == path; });
  if (before == asked_.end()) {
    if (asked_.size() == kMaxAsked) asked_.erase(asked_.begin());
    asked_.push_back({.path = std::move(path), .kind = kind, .at = clock_});
    return;
  }
  // A range asks twice in one search.
  if (before->at == clock_) return;
  asked_.erase(before);
  if (columns_.size() == kMaxColumns) {
    columns_.erase(std::ranges::min_element(columns_, {}, &Column::used_at));
  }
  columns_.push_back({.path = std::move(path), .kind = kind, .used_at = clock_});
}

void FieldColumns::Fill(Slot slot, std::string_view value) {
  for (Column& column : columns_) {
    if (!column.is_filled) column.Add(slot, value);
  }
}

void FieldColumns::EndFill() {
  for (Column& column : columns_) column.is_filled = true;
}

SlotSet FieldColumns::SelectBy(const Column& column, const Filter::Test& test) {
  SlotSet slots;
  if (column.kind == Kind::kNumber) {
    const float number = NumberOf(test.operands.front());
    const bool from = test.op == Operator::kGt || test.op == Operator::kGte;
    for (const auto& [chunk, page] : column.pages) {
      slots.Append(chunk, BitsOf([&](std::size_t at) {
                     return BitsWithin(&page.numbers[at], from ? number : -kInfinity,
                                       from ? kInfinity : number);
                   }));
    }
    return slots;
  }
  std::vector<std::uint16_t> hashes;
  for (const std::string& operand : test.operands) hashes.push_back(HashOf(operand));
  std::vector<bool> wanted(hashes.size() > kMaxCompared ? 0x1'0000 : 0);
  if (!wanted.empty()) {
    for (const std::uint16_t hash : hashes) wanted[hash] = true;
  }
  for (const auto& [chunk, page] : column.pages) {
    slots.Append(chunk, wanted.empty() ? BitsOfAny(page.hashes.data(), hashes)
                                       : BitsIn(page.hashes.data(), wanted));
  }
  return slots;
}

std::optional<SlotSet> FieldColumns::Select(const Filter& filter) const {
  std::optional<SlotSet> slots;
  if (columns_.empty()) return slots;
  for (const Filter::Test& test : filter.Tests()) {
    const std::optional<Kind> kind = KindFor(test);
    const Column* column = kind ? Find(PathOf(test), *kind) : nullptr;
    if (column == nullptr || !column->is_filled) continue;
    SlotSet selected = SelectBy(*column, test);
    if (slots) {
      slots->Intersect(selected);
    } else {
      slots = std::move(selected);
    }
  }
  return slots;
}

void FieldColumns::Add(Slot slot, std::string_view value) {
  for (Column& column : columns_) {
    column.Add(slot, value);
    ++column.writes;
  }
  std::erase_if(columns_, [](const Column& column) {
    return column.writes > std::max(kMinIdleWrites, column.slots);
  });
}

void FieldColumns::Remove(Slot slot) {
  for (Column& column : columns_) column.Remove(slot);
}

void FieldColumns::Move(Slot from, Slot to) {
  for (Column& column : columns_) column.Move(from, to);
}

std::vector<FieldColumns::Name> FieldColumns::NamesOf(const Filter& filter) {
  std::vector<Name> names;
  for (const Filter::Test& test : filter.Tests()) {
    const std::optional<Kind> kind = KindFor(test);
    if (!kind) continue;
    Name name{PathOf(test), *kind};
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

void FieldColumns::Open(const Name& name) {
  columns_.push_back({.path = name.path, .kind = name.kind, .is_filled = true});
}

void FieldColumns::Set(Slot slot, std::string_view value, std::string_view encoded_ns) {
  for (Column& column : columns_) column.Set(slot, value, encoded_ns);
}

void FieldColumns::Unset(Slot slot) {
  const std::size_t at = slot % kChunkSlots;
  for (Column& column : columns_) {
    const auto page = column.pages.find(static_cast<std::size_t>(slot / kChunkSlots));
    if (page == column.pages.end()) continue;
    if (column.kind == Kind::kHash) {
      page->second.hashes[at] = kMissing;
    } else {
      page->second.numbers[at] = kNoNumber;
    }
  }
}

Bytes FieldColumns::Words(const Name& name, std::size_t first_chunk, std::size_t chunks) const {
  Bytes words;
  const Column* column = Find(name.path, name.kind);
  if (column == nullptr) return words;
  const std::size_t chunk_bytes =
      kChunkSlots * (name.kind == Kind::kHash ? sizeof(std::uint16_t) : sizeof(float));
  Page empty;
  empty.hashes.resize(kChunkSlots, kMissing);
  empty.numbers.resize(kChunkSlots, kNoNumber);
  for (auto page = column->pages.lower_bound(first_chunk);
       page != column->pages.end() && page->first < first_chunk + chunks; ++page) {
    const std::size_t begin = (page->first - first_chunk) * chunk_bytes;
    const auto append = [&](const Page& from) {
      const auto* bytes = name.kind == Kind::kHash
                              ? reinterpret_cast<const std::uint8_t*>(from.hashes.data())
                              : reinterpret_cast<const std::uint8_t*>(from.numbers.data());
      words.insert(words.end(), bytes, bytes + chunk_bytes);
    };
    while (words.size() < begin) append(empty);
    append(page->second);
  }
  return words;
}

void FieldColumns::SetWords(const Name& name, std::size_t first_chunk, ByteView words) {
  const Column* found = Find(name.path, name.kind);
  if (found == nullptr) return;
  Column& column = columns_[static_cast<std::size_t>(found - columns_.data())];
  const std::size_t chunk_bytes =
      kChunkSlots * (name.kind == Kind::kHash ? sizeof(std::uint16_t) : sizeof(float));
  for (std::size_t at = 0; at + chunk_bytes <= words.size(); at += chunk_bytes) {
    Page& page = column.PageOf(first_chunk++);
    void* const to = name.kind == Kind::kHash ? static_cast<void*>(page.hashes.data())
                                              : static_cast<void*>(page.numbers.data());
    std::memcpy(to, words.data() + at, chunk_bytes);
  }
}

SlotSet FieldColumns::SelectNamespaces(const std::vector<std::string>& encoded) const {
  std::vector<bool> wanted(0x1'0000);
  for (const std::string& ns : encoded) wanted[HashOfText(ns)] = true;
  SlotSet slots;
  for (const auto& [chunk, page] : Find({}, Kind::kHash)->pages) {
    slots.Append(chunk, BitsIn(page.hashes.data(), wanted));
  }
  return slots;
}

std::size_t FieldColumns::bytes() const {
  std::size_t bytes = 0;
  for (const Column& column : columns_) {
    const std::size_t a_slot = column.kind == Kind::kHash ? sizeof(std::uint16_t) : sizeof(float);
    bytes += column.pages.size() * kChunkSlots * a_slot;
  }
  return bytes;
}

void FieldColumns::Clear() {
  columns_.clear();
  asked_.clear();
}

}  // namespace keepsake::search
