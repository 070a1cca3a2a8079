// A search by vector whose index is not in memory: it goes once over the codes in the file, and
// reads the rows of the best. The index would have to know the name of each item, too.
#ifndef KEEPSAKE_STORE_SQLITE_STORED_CODES_H_
#define KEEPSAKE_STORE_SQLITE_STORED_CODES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "keepsake/database.h"
#include "keepsake/status.h"
#include "store/item_table.h"

namespace keepsake {

// At least the `wanted` best items of the namespaces that begin so, each with its best vector's
// score. nullopt where the index has to be read: fewer are there, a chunk is missing, damaged or
// without namespaces, or many vectors are in no chunk.
Result<std::optional<NearItems>> FindInCodes(sql::Database& database, std::span<const float> query,
                                             std::string_view encoded_prefix, std::size_t wanted);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_STORED_CODES_H_
