// A set of prefixes of encoded namespaces. One that begins with another is left out.
#ifndef KEEPSAKE_STORE_PREFIX_SET_H_
#define KEEPSAKE_STORE_PREFIX_SET_H_

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace keepsake {

class PrefixSet {
 public:
  void Clear() { prefixes_.clear(); }
  auto begin() const { return prefixes_.begin(); }
  auto end() const { return prefixes_.end(); }

  // Whether the text begins with one of them. Each step finds a prefix or a shorter text that
  // alone may begin with one.
  bool Covers(std::string_view text) const {
    for (std::string_view head = text;;) {
      auto next = prefixes_.upper_bound(head);
      if (next == prefixes_.begin()) return false;
      const std::string& last = *std::prev(next);
      if (head.starts_with(last)) return true;
      const auto differ = std::ranges::mismatch(head, last);
      head = head.substr(0, static_cast<std::size_t>(differ.in1 - head.begin()));
    }
  }

  void Add(const std::string& prefix) {
    if (Covers(prefix)) return;
    auto within = prefixes_.lower_bound(prefix);
    while (within != prefixes_.end() && within->starts_with(prefix)) {
      within = prefixes_.erase(within);
    }
    prefixes_.insert(prefix);
  }

 private:
  std::set<std::string, std::less<>> prefixes_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_PREFIX_SET_H_
