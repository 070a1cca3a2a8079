// Item ids as a JSON array, for json_each(): a statement has few parameters.
#ifndef KEEPSAKE_STORE_SQLITE_ID_LIST_H_
#define KEEPSAKE_STORE_SQLITE_ID_LIST_H_

#include <string>

namespace keepsake {

template <typename Ids>
std::string IdList(const Ids& ids) {
  std::string json;
  for (const auto id : ids) (json += json.empty() ? '[' : ',') += std::to_string(id);
  return json.empty() ? "[]" : json += ']';
}

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_ID_LIST_H_
