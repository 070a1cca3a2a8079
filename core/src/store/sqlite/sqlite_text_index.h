// The texts of a SqliteStore: an index (text/text_index.h) whose pages are rows of text_pages. Its
// first row is the state: which segments there are, and what of the store they cover.
//
// Until the first search by text a put pays nothing for it. That search analyses what is below its
// prefix. Whatever is put or deleted later has a row in text_changes, and is analysed by the next
// search that covers it, or before, while nobody calls; then all of the store is covered, too. All
// of that is done in portions, as far as a TextWork allows.
//
// Rows of store_kv are the truth: an index that is damaged is made anew from them. While another
// connection writes, or the disk is full, pages stay in memory, and are stored by a later search.
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

class SqliteTextIndex final : public ItemFollower, private search::PageSource {
 public:
  // `database` is borrowed.
  explicit SqliteTextIndex(sql::Database& database) : database_(database) {}

  // Reads whether there is an index. Called before everything else.
  Status Start();

  // Whether there is none: then Put() and Remove() do nothing.
  bool is_empty() const { return !is_made_; }

  Status Put(const FollowedItem& item) override;
  Status Remove(std::span<const std::int64_t> item_ids) override;
  // Leaves nothing in the index of what was removed.
  Status Clear() override;
  Status EndTransaction(bool committed) override { return committed ? Status() : Start(); }

  // What a filter may let through, ascending; nullopt for all.
  using Among = std::optional<std::vector<std::int64_t>>;

  Result<std::vector<search::TextHit>> Search(const CheckedSearch& search, std::size_t most,
                                              const TextConfig& config,
                                              const search::Meaning& meaning, const Among& among,
                                              search::TextPlan& plan, TextWork& work);
  // Goes on with what is left to do. kIndexing if that is more than `work` allows.
  Status Improve(const TextConfig& config, TextWork& work);

 private:
  // Where the texts below a prefix are analysed for the first time.
  using Covering = std::map<std::string, ItemName>;

  Status ReadPage(search::PageNumber number, FunctionRef<void(ByteView)> use) override;
  Result<std::vector<search::TextHit>> SearchOnce(const CheckedSearch& search, std::size_t most,
                                                  const TextConfig& config,
                                                  const search::Meaning& meaning,
                                                  const Among& among, search::TextPlan& plan,
                                                  TextWork& work);
  // Makes it ready for a configuration: what is stored for another one is of no use any more.
  Status Open(const TextConfig& config);
  Status NoteConfig(std::string_view config);
  Status ReadState();
  Status ReadChanges();
  Bytes State() const;
  bool Restore(ByteView state);
  // Analyses what is below a prefix, on from where that ended.
  Status Cover(const std::string& encoded_prefix, const TextConfig& config, TextWork& work);
  Result<bool> CoverSome(const std::string& encoded_prefix, const TextConfig& config,
                         TextWork& work);
  Status AnalysePending(std::string_view encoded_prefix, const TextConfig& config, TextWork& work);
  // Says which of these items need no analysis any more.
  Result<std::vector<std::int64_t>> Analyse(std::string_view encoded_ns,
                                            std::span<const std::int64_t> ids,
                                            const TextConfig& config, TextWork& work);
  Status Flush();
  // Stores what is to be stored, as far as the database takes it now.
  Status Keep();
  Status WriteAll();
  // Keeps no name of what is not there.
  Status ForgetNames();
  Status Forget();

  sql::Database& database_;
  bool is_made_ = false;       // there may be pages
  bool is_open_ = false;       // the state was read
  bool is_made_anew_ = false;  // because of damage, and no search has ended since
  search::TextIndex index_{this};
  PrefixSet covered_;  // what was analysed at least once
  PrefixSet begun_;    // the same, and what was in part
  Covering covering_;
  // Items that were put since they were analysed, by namespace.
  std::map<std::string, std::set<std::int64_t>, std::less<>> pending_;
  // Items whose row in text_changes is of no use when the state is stored.
  std::set<std::int64_t> settled_;
  bool is_unnoted_ = false;    // something fresh has no row in text_changes
  std::string unkept_config_;  // what the index is made for, until that is stored
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_
