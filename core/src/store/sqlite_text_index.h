// The texts of a SqliteStore. FTS5 finds the items that hold a token; what they are
// scored by is in store_text.
//
// It is made by the first search by text: until then a put pays nothing for it. The
// items that are there by then are noted in text_pending, and analysed when a search
// covers their namespace; later ones are analysed when they are put.
#ifndef KEEPSAKE_STORE_SQLITE_TEXT_INDEX_H_
#define KEEPSAKE_STORE_SQLITE_TEXT_INDEX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/database.h"
#include "keepsake/status.h"
#include "keepsake/text_config.h"
#include "search/text_search.h"
#include "store/checked_batch.h"

namespace keepsake {

class SqliteTextIndex {
 public:
  // `database` is borrowed.
  explicit SqliteTextIndex(sql::Database& database) : database_(database) {}

  // Reads whether there is an index. Called once, before everything else.
  Status Start();

  // To be called within the transaction that writes or deletes the items.
  Status Put(std::int64_t item_id, std::string_view encoded_ns, std::string_view value,
             const TextConfig& config);
  // `item_ids` is a JSON array.
  Status Remove(std::string_view item_ids);

  Result<std::vector<search::TextHit>> Search(const CheckedSearch& search, const TextConfig& config,
                                              const search::Meaning& meaning, std::int64_t now_ms,
                                              search::TextPlan& plan);

 private:
  Status MakeFor(const TextConfig& config);
  Status AnalysePending(const CheckedSearch& search, const TextConfig& config);
  Status Add(std::int64_t item_id, std::string_view encoded_ns, std::string_view value,
             const TextConfig& config);

  sql::Database& database_;
  bool is_made_ = false;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_TEXT_INDEX_H_
