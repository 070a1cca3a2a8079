// The texts of a SqliteStore: an index in memory (text/text_index.h), and the records that it
// is made from, a row of store_text for each item.
//
// Until the first search by text a put pays nothing for it. The first search below a prefix
// reads the records there, and analyses items that have none. What is put later is analysed by
// the next search that covers it, or before, while nobody calls. So an item costs one row more,
// when it is first searched. Both are done in portions, as far as a TextWork allows.
//
// Rows of store_kv are the truth: a record that is damaged is made anew from its item. While
// another connection writes, or the disk is full, records are kept in memory, and stored by a later
// search.
#ifndef KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_
#define KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/function_ref.h"
#include "keepsake/status.h"
#include "keepsake/text_config.h"
#include "store/checked_batch.h"
#include "store/prefix_set.h"
#include "store/sqlite/item_follower.h"
#include "store/text_work.h"
#include "store/versions.h"
#include "text/text_index.h"
#include "text/text_search.h"

namespace keepsake {

class SqliteTextIndex final : public ItemFollower {
 public:
  // `database` is borrowed.
  explicit SqliteTextIndex(sql::Database& database) : database_(database) {}

  // Reads whether there are records. Called before everything else.
  Status Start();

  // Whether no item has a record: then Put() and Remove() do nothing.
  bool is_empty() const { return !is_made_; }

  Status Put(const FollowedItem& item) override;
  Status Remove(std::span<const std::int64_t> item_ids) override;
  Status EndTransaction(bool committed) override { return committed ? Status() : Start(); }

  // What a filter may let through, ascending; nullopt for all.
  using Among = std::optional<std::vector<std::int64_t>>;

  Result<std::vector<search::TextHit>> Search(const CheckedSearch& search, std::size_t most,
                                              const TextConfig& config,
                                              const search::Meaning& meaning, const Among& among,
                                              search::TextPlan& plan, TextWork& work);
  // Analyses what was put where searches were. kIndexing if that is more than `work` allows.
  Status Improve(const TextConfig& config, TextWork& work);

 private:
  Result<std::vector<search::TextHit>> SearchOnce(const CheckedSearch& search, std::size_t most,
                                                  const TextConfig& config,
                                                  const search::Meaning& meaning,
                                                  const Among& among, search::TextPlan& plan,
                                                  TextWork& work);
  Status MakeFor(const TextConfig& config);
  Status NoteConfig(std::string_view config);
  // Stores what a database that was busy did not take, as far as it does now.
  Status KeepRecords();
  // Reads the records below a prefix, once.
  Status Load(const std::string& encoded_prefix, const TextConfig& config, TextWork& work);
  void LoadRow(const sql::Row& row, ByteView record, const TextConfig& config);
  Status AnalysePending(std::string_view encoded_prefix, const TextConfig& config, TextWork& work);
  // Says which of these items need no analysis any more.
  Result<std::vector<std::int64_t>> Analyse(std::string_view encoded_ns,
                                            std::span<const std::int64_t> ids,
                                            const TextConfig& config, TextWork& work);
  Status Forget();

  sql::Database& database_;
  bool is_made_ = false;       // there may be records
  bool is_made_anew_ = false;  // because of damage, and no search has ended since
  search::TextIndex index_;
  PrefixSet loaded_;                         // what the index in memory covers
  PrefixSet begun_;                          // the same, and what it covers in part
  std::map<std::string, ItemName> loading_;  // where loading a prefix goes on
  // Items without a record, by namespace, as far as it is loaded.
  std::map<std::string, std::set<std::int64_t>, std::less<>> pending_;
  bool keeps_ = true;  // the disk had room when it was last asked
  // What is not stored yet: what the index is made for, and records.
  std::string unkept_config_;
  std::map<std::int64_t, Bytes> unkept_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_
