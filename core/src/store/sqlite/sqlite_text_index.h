// The texts of a SqliteStore: an index in memory (text/text_index.h), and the records that it
// is made from, a row of store_text for each item.
//
// Until the first search by text a put pays nothing for it. The first search below a prefix
// reads the records there, and analyses items that have none. What is put later is analysed by
// the next search that covers it. So an item costs one row more, when it is first searched.
//
// Rows of store_kv are the truth: a record that is damaged is made anew from its item.
#ifndef KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_
#define KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_

#include <cstdint>
#include <map>
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
#include "text/text_index.h"
#include "text/text_search.h"

namespace keepsake {

class SqliteTextIndex {
 public:
  // `database` is borrowed.
  explicit SqliteTextIndex(sql::Database& database) : database_(database) {}

  // Reads whether there are records. Called before everything else.
  Status Start();

  // To be called within the transaction that writes or deletes the items.
  Status Put(std::int64_t item_id, std::string_view encoded_ns);
  Status Remove(std::span<const std::int64_t> item_ids);
  // To be called when such a transaction has ended.
  Status EndTransaction(bool committed) { return committed ? Status() : Start(); }

  Result<std::vector<search::TextHit>> Search(const CheckedSearch& search, std::size_t most,
                                              const TextConfig& config,
                                              const search::Meaning& meaning,
                                              search::TextPlan& plan);

 private:
  Result<std::vector<search::TextHit>> SearchOnce(const CheckedSearch& search, std::size_t most,
                                                  const TextConfig& config,
                                                  const search::Meaning& meaning,
                                                  search::TextPlan& plan);
  Status MakeFor(const TextConfig& config);
  // Reads the records below a prefix, once.
  Status Load(const std::string& encoded_prefix, const TextConfig& config);
  Status AnalysePending(std::string_view encoded_prefix, const TextConfig& config);
  Status Analyse(std::string_view encoded_ns, std::span<const std::int64_t> ids,
                 const TextConfig& config);
  Status Forget();
  // Whether the index in memory covers the namespaces that begin so.
  bool IsLoaded(std::string_view encoded_prefix) const;

  sql::Database& database_;
  bool is_made_ = false;  // there may be records
  search::TextIndex index_;
  std::set<std::string, std::less<>> loaded_;  // prefixes
  // Items without a record, by namespace, as far as it is loaded.
  std::map<std::string, std::set<std::int64_t>, std::less<>> pending_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_
