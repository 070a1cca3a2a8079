#include "store/sqlite/sqlite_text_index.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "store/sqlite/id_list.h"
#include "store/sqlite/prefix_range.h"
#include "store/sqlite/read_int.h"
#include "text/text_query.h"
#include "text/text_record.h"

namespace keepsake {
namespace {

using search::TextItemCallback;
using sql::Param;
using sql::Row;

constexpr std::string_view kReadConfig = "SELECT value FROM meta WHERE name = 'text_index'";
constexpr std::string_view kWriteConfig =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('text_index', ?)";
constexpr std::string_view kForgetConfig = "DELETE FROM meta WHERE name = 'text_index'";
constexpr std::string_view kClearTokens =
    "INSERT INTO store_text_index(store_text_index) VALUES('delete-all')";
// Without these FTS5 opens no index, not even to empty it.
constexpr std::string_view kClearTokensConfig = "DELETE FROM store_text_index_config";
constexpr std::string_view kWriteTokensConfig =
    "INSERT INTO store_text_index_config(k, v) VALUES('version', 4)";
// Ids and counts are multiples of a number that no bit that flips leaves them to be.
constexpr std::string_view kAllPending =
    "INSERT INTO text_pending SELECT item_id * 1021 FROM store_kv";
// Of an item: its own, and nothing that others share.
constexpr std::string_view kPut =
    "INSERT INTO store_text(item_id, ns, group_key, position, length, record)"
    " VALUES(?, ?, ?, ?, ?, ?)";
constexpr std::string_view kPutTokens = "INSERT INTO store_text_index(rowid, tokens) VALUES(?, ?)";
constexpr std::string_view kAddToScope =
    "INSERT INTO text_scope(ns, items, length) VALUES(?, ?, ?)"
    " ON CONFLICT(ns) DO UPDATE SET items = items + excluded.items,"
    "  length = length + excluded.length";
constexpr std::string_view kDelete =
    "DELETE FROM store_text WHERE item_id IN (SELECT value FROM json_each(?))"
    " RETURNING item_id, ns, group_key, position, length, record";
constexpr std::string_view kDeleteTokens = "DELETE FROM store_text_index WHERE rowid = ?";
constexpr std::string_view kDeletePending =
    "DELETE FROM text_pending WHERE item_id IN (SELECT value * 1021 FROM json_each(?))";
constexpr std::string_view kPending =
    "SELECT i.item_id, i.ns, i.value FROM text_pending p CROSS JOIN store_kv i"
    " ON i.item_id = p.item_id / 1021 WHERE i.ns >= ? AND i.ns < ? LIMIT ?";

constexpr std::string_view kScope =
    "SELECT sum(items), sum(length) FROM text_scope WHERE ns > '' AND ns >= ? AND ns < ?";
// An item that FTS5 names and that isn't there has a NULL for an id.
constexpr std::string_view kMatching =
    "SELECT i.item_id, i.ns, i.key, t.group_key, t.position, t.record, t.length"
    " FROM store_text_index LEFT JOIN store_text t ON t.item_id = store_text_index.rowid"
    " LEFT JOIN store_kv i ON i.item_id = t.item_id"
    " WHERE store_text_index MATCH ? AND (i.item_id IS NULL OR (i.ns >= ? AND i.ns < ?"
    " AND (i.expires_at IS NULL OR i.expires_at > ?))) ORDER BY store_text_index.rowid DESC";
constexpr std::string_view kMatchingWithValues =
    "SELECT i.item_id, i.ns, i.key, t.group_key, t.position, t.record, t.length, i.value"
    " FROM store_text_index LEFT JOIN store_text t ON t.item_id = store_text_index.rowid"
    " LEFT JOIN store_kv i ON i.item_id = t.item_id"
    " WHERE store_text_index MATCH ? AND (i.item_id IS NULL OR (i.ns >= ? AND i.ns < ?"
    " AND (i.expires_at IS NULL OR i.expires_at > ?))) ORDER BY store_text_index.rowid DESC";
constexpr std::string_view kCountMatching =
    "SELECT count(*) FROM (SELECT 1 FROM store_text_index WHERE store_text_index MATCH ? LIMIT ?)";
constexpr std::string_view kInGroup =
    "SELECT i.item_id, i.ns, i.key, t.group_key, t.position, t.record, t.length"
    " FROM store_text t CROSS JOIN store_kv i ON i.item_id = t.item_id"
    " WHERE t.ns = ? AND t.group_key = ? AND (i.expires_at IS NULL OR i.expires_at > ?)";
constexpr std::string_view kInGroupWithValues =
    "SELECT i.item_id, i.ns, i.key, t.group_key, t.position, t.record, t.length, i.value"
    " FROM store_text t CROSS JOIN store_kv i ON i.item_id = t.item_id"
    " WHERE t.ns = ? AND t.group_key = ? AND (i.expires_at IS NULL OR i.expires_at > ?)";
// In the order of the list, with the columns of the text where kMatching has them.
constexpr std::string_view kEmbedded =
    "SELECT t.item_id, t.ns, v.vector, t.group_key, t.position, t.record, t.length"
    " FROM json_each(?) c CROSS JOIN store_text t ON t.item_id = c.value"
    " CROSS JOIN store_vectors v ON v.vector_id = (SELECT vector_id FROM store_vectors"
    " WHERE item_id = c.value ORDER BY path LIMIT 1)";
constexpr std::string_view kTokens =
    "SELECT term FROM store_text_tokens WHERE term >= ? AND term < ?";

constexpr std::int64_t kPendingAtOnce = 500;
constexpr std::size_t kMaxAlternativesInQuery = 1000;

constexpr std::string_view kHexDigits = "0123456789abcdef";

// Tokens for FTS5, whose `ascii` tokenizer takes [0-9a-z] as they are: any other byte,
// and `z`, is a `z` and two digits. The beginning of a token stays the beginning.
std::string Escaped(std::string_view token) {
  std::string escaped;
  for (const char c : token) {
    if ((c >= '0' && c <= '9') || (c >= 'a' && c < 'z')) {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped += {'z', kHexDigits[byte >> 4], kHexDigits[byte & 0xF]};
    }
  }
  return escaped;
}

std::string Unescaped(std::string_view escaped) {
  std::string token;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != 'z' || i + 2 >= escaped.size()) {
      token += escaped[i];
      continue;
    }
    token +=
        static_cast<char>(kHexDigits.find(escaped[i + 1]) * 16 + kHexDigits.find(escaped[i + 2]));
    i += 2;
  }
  return token;
}

// A namespace prefix as a token: no word is escaped to `zn`. Another prefix with the
// same hash does no harm, since the rows of hits are asked for their namespace.
std::string ScopeToken(std::string_view encoded_prefix) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char c : encoded_prefix) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  std::string token = "zn";
  for (int shift = 60; shift >= 0; shift -= 4) token += kHexDigits[hash >> shift & 0xF];
  return token;
}

// What an item is found by: each prefix of its namespace, and each token.
std::vector<std::string> TokensOf(std::string_view encoded_ns) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < encoded_ns.size(); ++i) {
    if (encoded_ns[i] == '\x1F') tokens.push_back(ScopeToken(encoded_ns.substr(0, i + 1)));
  }
  return tokens;
}

std::string Joined(std::span<const std::string> tokens) {
  std::string text;
  for (const std::string& token : tokens) (text += token) += ' ';
  return text;
}

std::string MatchExpression(std::string_view encoded_prefix,
                            const std::vector<search::TextTerm>& terms) {
  std::string any;
  std::size_t count = 0;
  for (const search::TextTerm& term : terms) {
    for (const search::Alternative& alternative : term.alternatives) {
      if (++count > kMaxAlternativesInQuery) break;
      if (!any.empty()) any += " OR ";
      any += '"' + Escaped(alternative.token) + (alternative.is_prefix ? "\" *" : "\"");
    }
  }
  if (encoded_prefix.empty()) return any;
  return '"' + ScopeToken(encoded_prefix) + "\" AND (" + any + ')';
}

class SqliteTextSource final : public search::TextSource {
 public:
  SqliteTextSource(sql::Database& database, const CheckedSearch& search,
                   const search::TextQuery& query, const TextConfig& config, bool is_checked)
      : database_(database),
        search_(search),
        query_(query),
        config_(config),
        is_checked_(is_checked),
        range_(search.encoded_prefix),
        reads_values_(!search.filter.empty() || !query.phrases.empty()) {}

  Result<search::TextScope> Scope() override {
    search::TextScope scope;
    Status status = database_.Run(kScope, {range_.first(), range_.end()}, [&](const Row& row) {
      scope.items = static_cast<std::uint64_t>(row.Int(0) / kCountFactor);
      scope.length = static_cast<std::uint64_t>(row.Int(1) / kCountFactor);
      return true;
    });
    if (!status.ok()) return std::unexpected(std::move(status));
    return scope;
  }

  Result<std::uint64_t> Count(const search::TextTerm& term, std::uint64_t most) override {
    const std::string expression = MatchExpression(search_.encoded_prefix, {term});
    return ReadInt(database_, kCountMatching, {expression, static_cast<std::int64_t>(most)});
  }

  Status Matching(const std::vector<search::TextTerm>& terms, std::uint64_t most,
                  const TextItemCallback& add) override {
    if (most == 0) return {};
    const std::string expression = MatchExpression(search_.encoded_prefix, terms);
    Status status = database_.Run(reads_values_ ? kMatchingWithValues : kMatching,
                                  {expression, range_.first(), range_.end(), search_.now_ms},
                                  [&](const Row& row) {
                                    if (Give(row, add)) --most;
                                    return most > 0 && !is_damaged_;
                                  });
    return is_damaged_ ? Damage() : status;
  }

  Status InGroup(std::string_view ns, std::string_view group,
                 const TextItemCallback& add) override {
    Status status = database_.Run(reads_values_ ? kInGroupWithValues : kInGroup,
                                  {ns, group, search_.now_ms}, [&](const Row& row) {
                                    Give(row, add);
                                    return !is_damaged_;
                                  });
    return is_damaged_ ? Damage() : status;
  }

  Status Tokens(std::string_view beginning, FunctionRef<void(std::string_view)> add) override {
    const std::string first = Escaped(beginning);
    const std::string end = first + '{';  // behind every letter
    return database_.Run(kTokens, {first, end}, [&](const Row& row) {
      if (!row.Text(0).starts_with("zn")) add(Unescaped(row.Text(0)));
      return true;
    });
  }

  Status Embedded(std::span<const std::int64_t> ids, search::EmbedderCheck& check) override {
    const std::string list = IdList(ids);
    std::vector<float> vector(search_.query_vector.size());
    Status status = database_.Run(kEmbedded, {list}, [&](const Row& row) {
      constexpr int kVector = 2, kRecord = 5;
      is_damaged_ = !IsSoundRow(row);
      if (is_damaged_ || row.Blob(kVector).size() != vector.size() * sizeof(float)) {
        return !is_damaged_;
      }
      std::memcpy(vector.data(), row.Blob(kVector).data(), row.Blob(kVector).size());
      check.Add(row.Blob(kRecord), vector);
      return true;
    });
    return is_damaged_ ? Damage() : status;
  }

 private:
  static Status Damage() { return {StatusCode::kCorrupt, "text index is damaged"}; }

  // Whether the row is as it was written, as far as that is not known.
  bool IsSoundRow(const Row& row) const {
    if (row.IsNull(0)) return false;
    return is_checked_ || IsSound({.item_id = row.Int(0),
                                   .ns = row.Text(1),
                                   .group = row.Text(3),
                                   .position = row.Real(4),
                                   .length = row.Int(6),
                                   .record = row.Blob(5)});
  }

  // Whether the item is wanted.
  bool Give(const Row& row, const TextItemCallback& add) {
    constexpr int kValue = 7;
    if (!IsSoundRow(row)) {
      is_damaged_ = true;
      return false;
    }
    const bool matches =
        !reads_values_ || (search_.filter.Matches(row.Text(kValue)) &&
                           search::HoldsPhrases(query_, row.Text(kValue), config_));
    const bool is_wanted = matches && row.Int(0) != search_.excluded_id;
    add({.id = row.Int(0),
         .ns = row.Text(1),
         .key = row.Text(2),
         .group = row.Text(3),
         .position = row.Real(4),
         .record = row.Blob(5),
         .is_wanted = is_wanted});
    return is_wanted;
  }

  sql::Database& database_;
  const CheckedSearch& search_;
  const search::TextQuery& query_;
  const TextConfig& config_;
  bool is_checked_;
  PrefixRange range_;
  bool reads_values_;
  bool is_damaged_ = false;
};

}  // namespace

Status SqliteTextIndex::Start() {
  is_made_ = false;
  return database_.Run(kReadConfig, {}, [&](const Row&) {
    is_made_ = true;
    return true;
  });
}

// The code of damage, or one that FTS5 fails with if its own settings are damaged; the latter
// may have other causes, hence only once.
bool SqliteTextIndex::IsDamage(const Status& status) const {
  return status.code() == StatusCode::kCorrupt ||
         (status.code() == StatusCode::kInternal && !was_given_up_);
}

Status SqliteTextIndex::Put(std::int64_t item_id, std::string_view encoded_ns,
                            std::string_view value, const TextConfig& config) {
  if (!is_made_) return {};
  Status status = Replace(item_id, encoded_ns, value, config);
  return IsDamage(status) ? Forget() : status;
}

Status SqliteTextIndex::Remove(std::string_view item_ids) {
  if (!is_made_) return {};
  Status status = RemoveRows(item_ids);
  return IsDamage(status) ? Forget() : status;
}

Status SqliteTextIndex::GiveUp() {
  return InTransaction([&] { return Forget(); });
}

// What a transaction that is rolled back has said of the index is not so.
Status SqliteTextIndex::InTransaction(FunctionRef<Status()> body) {
  Status status = database_.InTransaction(body);
  if (Status ended = EndTransaction(status.ok()); status.ok()) return ended;
  return status;
}

Status SqliteTextIndex::Forget() {
  is_made_ = false;
  was_given_up_ = true;
  Status status = Clear();
  return status.ok() ? database_.Run(kForgetConfig) : status;
}

Status SqliteTextIndex::Clear() {
  for (std::string_view sql :
       {"DELETE FROM store_text", "DELETE FROM text_scope", "DELETE FROM text_pending"}) {
    if (Status status = database_.Run(sql); !status.ok()) return status;
  }
  if (Status status = database_.Run(kClearTokens); status.ok()) return status;
  Status status = database_.Run(kClearTokensConfig);
  if (status.ok()) status = database_.Run(kWriteTokensConfig);
  return status.ok() ? database_.Run(kClearTokens) : status;
}

Status SqliteTextIndex::Replace(std::int64_t item_id, std::string_view encoded_ns,
                                std::string_view value, const TextConfig& config) {
  Status status = RemoveRows(IdList(std::span(&item_id, 1)));
  if (!status.ok()) return status;
  const search::TextEntry entry = search::MakeTextEntry(value, config);
  if (entry.tokens.empty()) return {};
  const std::int64_t length = entry.length;
  const Param group = entry.group.empty() ? Param(std::monostate()) : Param(entry.group);
  const Bytes record = Sealed({.item_id = item_id,
                               .ns = encoded_ns,
                               .group = entry.group,
                               .position = entry.position,
                               .length = length,
                               .record = entry.record});
  status =
      database_.Run(kPut, {item_id, encoded_ns, group, entry.position, length, ByteView(record)});
  std::vector<std::string> tokens = TokensOf(encoded_ns);
  for (const std::string& token : entry.tokens) tokens.push_back(Escaped(token));
  const std::string text = Joined(tokens);
  if (status.ok()) status = database_.Run(kPutTokens, {item_id, text});
  return status.ok() ? CountItem(item_id, encoded_ns, length, tokens, 1) : status;
}

// Adds to the counts, or takes from them (sign -1).
Status SqliteTextIndex::CountItem(std::int64_t item_id, std::string_view encoded_ns,
                                  std::int64_t length, std::span<const std::string> tokens,
                                  std::int64_t sign) {
  PostingSum postings;
  for (const std::string& token : tokens) postings.Add(token, item_id);
  check_.Note(item_id, tokens, sign);
  Status status =
      database_.Run(kAddToScope, {encoded_ns, sign * kCountFactor, sign * length * kCountFactor});
  return status.ok() ? database_.Run(kAddToScope, {std::string_view(), sign * postings.count,
                                                   sign * postings.sum})
                     : status;
}

Status SqliteTextIndex::RemoveRows(std::string_view item_ids) {
  struct Removed {
    std::int64_t item_id;
    std::string ns;
    std::int64_t length;
    std::vector<std::string> tokens;
  };
  std::vector<Removed> removed;
  bool is_damaged = false;
  Status status = database_.Run(kDelete, {item_ids}, [&](const Row& row) {
    const TextRow text = {.item_id = row.Int(0),
                          .ns = row.Text(1),
                          .group = row.Text(2),
                          .position = row.Real(3),
                          .length = row.Int(4),
                          .record = row.Blob(5)};
    is_damaged |= !IsSound(text);
    removed.push_back({text.item_id, std::string(text.ns), text.length, TokensOf(text.ns)});
    search::RecordReader reader(text.record);
    while (reader.Next()) removed.back().tokens.push_back(Escaped(reader.token()));
    return true;
  });
  if (is_damaged) return {StatusCode::kCorrupt, "text index is damaged"};
  if (status.ok()) status = database_.Run(kDeletePending, {item_ids});
  for (const Removed& item : removed) {
    if (status.ok()) status = database_.Run(kDeleteTokens, {item.item_id});
    if (status.ok()) status = CountItem(item.item_id, item.ns, item.length, item.tokens, -1);
  }
  return status;
}

// What is stored under another configuration is of no use any more.
Status SqliteTextIndex::MakeFor(const TextConfig& config) {
  const std::string wanted = "sealed/" + search::FingerprintOf(config);
  std::string made;
  Status status = database_.Run(kReadConfig, {}, [&](const Row& row) {
    made = row.Text(0);
    return true;
  });
  if (!status.ok() || (made == wanted && is_made_)) return status;
  status = InTransaction([&]() -> Status {
    Status step = Clear();
    if (step.ok()) step = database_.Run(kAllPending);
    return step.ok() ? database_.Run(kWriteConfig, {std::string_view(wanted)}) : step;
  });
  if (status.ok()) {
    is_made_ = true;
    check_.Pass();
  }
  return status;
}

// In steps, so that one that is cut short is not in vain.
Status SqliteTextIndex::AnalysePending(const CheckedSearch& search, const TextConfig& config) {
  const PrefixRange range(search.encoded_prefix);
  struct Pending {
    std::int64_t item_id;
    std::string ns;
    std::string value;
  };
  std::vector<Pending> step;
  do {
    step.clear();
    Status status =
        database_.Run(kPending, {range.first(), range.end(), kPendingAtOnce}, [&](const Row& row) {
          step.push_back({row.Int(0), std::string(row.Text(1)), std::string(row.Text(2))});
          return true;
        });
    if (!status.ok() || step.empty()) return status;
    status = InTransaction([&]() -> Status {
      for (const Pending& item : step) {
        Status put = Put(item.item_id, item.ns, item.value, config);
        if (!put.ok()) return put;
      }
      return {};
    });
    if (!status.ok()) return status;
  } while (std::ssize(step) == kPendingAtOnce);
  return {};
}

// What turns out to be damaged is made anew, once.
Result<std::vector<search::TextHit>> SqliteTextIndex::Search(const CheckedSearch& search,
                                                             const TextConfig& config,
                                                             const search::Meaning& meaning,
                                                             search::TextPlan& plan) {
  auto hits = SearchOnce(search, config, meaning, plan);
  if (hits || !IsDamage(hits.error())) return hits;
  if (!GiveUp().ok()) return hits;
  plan = {};
  return SearchOnce(search, config, meaning, plan);
}

Result<std::vector<search::TextHit>> SqliteTextIndex::SearchOnce(const CheckedSearch& search,
                                                                 const TextConfig& config,
                                                                 const search::Meaning& meaning,
                                                                 search::TextPlan& plan) {
  Status status = MakeFor(config);
  if (status.ok()) status = AnalysePending(search, config);
  if (status.ok() && !is_made_) status = {StatusCode::kCorrupt, "text index is damaged"};
  if (status.ok()) status = check_.Step();
  if (!status.ok()) return std::unexpected(std::move(status));
  const search::TextQuery query = search::ParseTextQuery(search.query, config.language);
  SqliteTextSource source(database_, search, query, config, check_.is_done());
  return search::SearchText(source, query, config, plan, meaning);
}

}  // namespace keepsake
