// FieldColumns answers which slots a filter may let through, without reading values. For
// each field that filters ask about again it has a word per slot: a hash of 16 bits for
// equality ($eq, $in, a plain value), a float32 for the order of numbers ($gt … $lte).
// Both may let through too many, never too few, so that a caller still matches the values
// of what it returns. Comparisons that they know nothing of let all through.
//
// A column is filled by the second search that asks for it, and kept true by Add(), Move()
// and Remove() from then on. There are at most kMaxColumns, of 2 or 4 bytes a slot; the
// one that was not asked for longest goes first, and so does one that was written more
// often than it has slots without being asked for.
//
// Or the caller says which columns there are, and keeps their words: Open(), Set(), Words().
#ifndef KEEPSAKE_VECTORS_FIELD_COLUMNS_H_
#define KEEPSAKE_VECTORS_FIELD_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/filter.h"
#include "keepsake/bytes.h"
#include "vectors/slot_set.h"

namespace keepsake::search {

class FieldColumns {
 public:
  static constexpr std::size_t kMaxColumns = 8;

  enum class Kind : std::uint8_t { kHash, kNumber };  // persistent
  using Path = std::vector<std::string>;
  // The empty path is that of the namespace of an item.
  struct Name {
    Path path;
    Kind kind = Kind::kHash;

    bool operator==(const Name&) const = default;
  };

  // Notes that a search has this filter. True if there are columns to be filled first, with
  // Fill() for every vector and EndFill() or, if that can't be done, Clear().
  bool Begin(const json::Filter& filter);
  void Fill(Slot slot, std::string_view value);
  void EndFill();

  // nullopt if columns know nothing about it.
  std::optional<SlotSet> Select(const json::Filter& filter) const;

  // As of the index: what a slot's item has for a value. REQUIRES: Remove() and Move() of
  // slots that were added.
  void Add(Slot slot, std::string_view value);
  void Remove(Slot slot);
  void Move(Slot from, Slot to);
  void Clear();

  // What columns could tell of a filter, each once.
  static std::vector<Name> NamesOf(const json::Filter& filter);
  // An empty column, which is kept until Clear().
  void Open(const Name& name);
  // Of a slot that may have something: in all columns, or nothing.
  void Set(Slot slot, std::string_view value, std::string_view encoded_ns);
  void Unset(Slot slot);
  // The words of a range of chunks, as bytes; shorter if the last ones have none.
  Bytes Words(const Name& name, std::size_t first_chunk, std::size_t chunks) const;
  void SetWords(const Name& name, std::size_t first_chunk, ByteView words);
  // REQUIRES: the column of namespaces is open. Of slots in one of these.
  SlotSet SelectNamespaces(const std::vector<std::string>& encoded) const;

  std::size_t size() const { return columns_.size(); }
  // About what they take in memory.
  std::size_t bytes() const;

 private:
  struct Page {
    std::size_t living = 0;
    // One of them, by the kind of the column.
    std::vector<std::uint16_t> hashes;
    std::vector<float> numbers;
  };

  struct Column {
    Path path;
    Kind kind;
    bool is_filled = false;
    std::uint64_t used_at = 0;  // of clock_
    std::size_t slots = 0;
    std::size_t writes = 0;                  // since it was used
    std::map<std::size_t, Page> pages = {};  // by chunk

    bool Is(const Path& other_path, Kind other_kind) const {
      return kind == other_kind && path == other_path;
    }
    Page& MakeRoom(Slot slot);
    Page& PageOf(std::size_t chunk);
    void Set(Slot slot, std::string_view value, std::string_view encoded_ns);
    void Add(Slot slot, std::string_view value);
    void Remove(Slot slot);
    void Move(Slot from, Slot to);
  };

  struct Asked {
    Path path;
    Kind kind;
    std::uint64_t at;  // of clock_
  };

  // Which column a comparison asks for; none if it is of no use.
  static std::optional<Kind> KindFor(const json::Filter::Test& test);
  const Column* Find(const Path& path, Kind kind) const;
  void Ask(Path path, Kind kind);
  static SlotSet SelectBy(const Column& column, const json::Filter::Test& test);

  std::vector<Column> columns_;
  std::vector<Asked> asked_;  // by one search each, the oldest first
  std::uint64_t clock_ = 0;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_FIELD_COLUMNS_H_
