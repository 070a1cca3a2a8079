#include "store/memory/memory_text_index.h"

#include <algorithm>

namespace keepsake {

void MemoryTextIndex::Put(std::int64_t id, std::string ns, search::TextEntry text) {
  Remove(id);
  if (text.tokens.empty()) return;
  for (const std::string& token : text.tokens) postings_[token].insert(id);
  if (!text.group.empty()) groups_[{ns, text.group}].insert(id);
  search::TextScope& scope = scopes_[ns];
  ++scope.items;
  scope.length += text.length;
  entries_.insert_or_assign(id, Entry{std::move(ns), std::move(text)});
}

void MemoryTextIndex::Remove(std::int64_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const auto& [ns, text] = found->second;
  for (const std::string& token : text.tokens) {
    const auto posting = postings_.find(token);
    posting->second.erase(id);
    if (posting->second.empty()) postings_.erase(posting);
  }
  if (!text.group.empty()) {
    const auto group = groups_.find({ns, text.group});
    group->second.erase(id);
    if (group->second.empty()) groups_.erase(group);
  }
  const auto scope = scopes_.find(ns);
  scope->second.length -= text.length;
  if (--scope->second.items == 0) scopes_.erase(scope);
  entries_.erase(found);
}

void MemoryTextIndex::Clear() { *this = MemoryTextIndex(); }

search::TextScope MemoryTextIndex::Scope(std::string_view encoded_prefix) const {
  search::TextScope sum;
  for (auto scope = scopes_.lower_bound(encoded_prefix);
       scope != scopes_.end() && scope->first.starts_with(encoded_prefix); ++scope) {
    sum.items += scope->second.items;
    sum.length += scope->second.length;
  }
  return sum;
}

std::uint64_t MemoryTextIndex::Count(const search::TextTerm& term,
                                     std::string_view encoded_prefix) const {
  Ids ids;
  for (const search::Alternative& alternative : term.alternatives) AddIdsOf(alternative, ids);
  return static_cast<std::uint64_t>(std::ranges::count_if(
      ids, [&](std::int64_t id) { return entries_.at(id).ns.starts_with(encoded_prefix); }));
}

void MemoryTextIndex::Matching(const std::vector<search::TextTerm>& terms,
                               const EntryVisitor& visit) const {
  Ids ids;
  for (const search::TextTerm& term : terms) {
    for (const search::Alternative& alternative : term.alternatives) AddIdsOf(alternative, ids);
  }
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    if (!visit(*id, entries_.at(*id))) return;
  }
}

void MemoryTextIndex::AddIdsOf(const search::Alternative& alternative, Ids& ids) const {
  for (auto posting = postings_.lower_bound(alternative.token);
       posting != postings_.end() && alternative.Matches(posting->first); ++posting) {
    ids.insert(posting->second.begin(), posting->second.end());
  }
}

void MemoryTextIndex::InGroup(std::string_view ns, std::string_view group,
                              const EntryCallback& add) const {
  const auto found = groups_.find({std::string(ns), std::string(group)});
  if (found == groups_.end()) return;
  for (const std::int64_t id : found->second) add(id, entries_.at(id));
}

void MemoryTextIndex::Tokens(std::string_view beginning,
                             FunctionRef<void(std::string_view)> add) const {
  for (auto posting = postings_.lower_bound(beginning);
       posting != postings_.end() && posting->first.starts_with(beginning); ++posting) {
    add(posting->first);
  }
}

}  // namespace keepsake
