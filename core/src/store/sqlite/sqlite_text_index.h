// The texts of a SqliteStore. FTS5 finds the items that hold a token; what they are
// scored by is in store_text.
//
// It is made by the first search by text: until then a put pays nothing for it. The
// items that are there by then are noted in text_pending, and analysed when a search
// covers their namespace; later ones are analysed when they are put.
//
// Rows of store_kv are the truth: what is found to be damaged is given up as a whole, and
// made anew by the search that found it (text_check.h).
#ifndef KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_
#define KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/function_ref.h"
#include "keepsake/status.h"
#include "keepsake/text_config.h"
#include "store/checked_batch.h"
#include "store/sqlite/text_check.h"
#include "text/text_search.h"

namespace keepsake {

class SqliteTextIndex {
 public:
  // `database` is borrowed.
  explicit SqliteTextIndex(sql::Database& database) : database_(database), check_(database) {}

  // Reads whether there is an index. Called before everything else.
  Status Start();

  // To be called within the transaction that writes or deletes the items.
  Status Put(std::int64_t item_id, std::string_view encoded_ns, std::string_view value,
             const TextConfig& config);
  // `item_ids` is a JSON array.
  Status Remove(std::string_view item_ids);
  // To be called when such a transaction has ended.
  Status EndTransaction(bool committed) { return committed ? Status() : Start(); }
  // Forgets everything, outside of transactions: the next search makes it anew.
  Status GiveUp();
  bool is_made() const { return is_made_; }

  Result<std::vector<search::TextHit>> Search(const CheckedSearch& search, const TextConfig& config,
                                              const search::Meaning& meaning,
                                              search::TextPlan& plan);

 private:
  Status MakeFor(const TextConfig& config);
  Status AnalysePending(const CheckedSearch& search, const TextConfig& config);
  Result<std::vector<search::TextHit>> SearchOnce(const CheckedSearch& search,
                                                  const TextConfig& config,
                                                  const search::Meaning& meaning,
                                                  search::TextPlan& plan);
  Status Forget();
  Status Clear();
  Status InTransaction(FunctionRef<Status()> body);
  Status Replace(std::int64_t item_id, std::string_view encoded_ns, std::string_view value,
                 const TextConfig& config);
  Status RemoveRows(std::string_view item_ids);
  Status CountItem(std::int64_t item_id, std::string_view encoded_ns, std::int64_t length,
                   std::span<const std::string> tokens, std::int64_t sign);
  bool IsDamage(const Status& status) const;
  Status Add(std::int64_t item_id, std::string_view encoded_ns, std::string_view value,
             const TextConfig& config);

  sql::Database& database_;
  TextCheck check_;
  bool is_made_ = false;
  bool was_given_up_ = false;  // since it was opened
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_SQLITE_TEXT_INDEX_H_
