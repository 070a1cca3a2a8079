// The texts of an InMemoryStore: an inverted index over the entries of its items.
#ifndef KEEPSAKE_STORE_MEMORY_MEMORY_TEXT_INDEX_H_
#define KEEPSAKE_STORE_MEMORY_MEMORY_TEXT_INDEX_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "keepsake/function_ref.h"
#include "text/text_query.h"
#include "text/text_record.h"
#include "text/text_search.h"

namespace keepsake {

class MemoryTextIndex {
 public:
  struct Entry {
    std::string ns;  // encoded
    search::TextEntry text;
  };
  // Gets ids of entries; a reference is valid until the next change.
  using EntryCallback = FunctionRef<void(std::int64_t id, const Entry& entry)>;
  // False ends a visit.
  using EntryVisitor = FunctionRef<bool(std::int64_t id, const Entry& entry)>;

  // Replaces what the id had. An entry without tokens is none.
  void Put(std::int64_t id, std::string ns, search::TextEntry text);
  void Remove(std::int64_t id);
  void Clear();

  // Null if there is none; valid until the next change.
  const Entry* Find(std::int64_t id) const {
    const auto entry = entries_.find(id);
    return entry == entries_.end() ? nullptr : &entry->second;
  }
  search::TextScope Scope(std::string_view encoded_prefix) const;
  // Of a namespace below the prefix.
  std::uint64_t Count(const search::TextTerm& term, std::string_view encoded_prefix) const;
  // Of any namespace, the newest first.
  void Matching(const std::vector<search::TextTerm>& terms, const EntryVisitor& visit) const;
  void InGroup(std::string_view ns, std::string_view group, const EntryCallback& add) const;
  void Tokens(std::string_view beginning, FunctionRef<void(std::string_view)> add) const;

 private:
  using Ids = std::set<std::int64_t>;

  void AddIdsOf(const search::Alternative& alternative, Ids& ids) const;

  std::unordered_map<std::int64_t, Entry> entries_;
  std::map<std::string, Ids, std::less<>> postings_;
  std::map<std::pair<std::string, std::string>, Ids> groups_;     // by namespace and group
  std::map<std::string, search::TextScope, std::less<>> scopes_;  // by namespace
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_MEMORY_MEMORY_TEXT_INDEX_H_
