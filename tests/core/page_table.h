// Keeps the pages of an index, as the rows of a table would, so that another index can open them.
#ifndef KEEPSAKE_TESTS_CORE_PAGE_TABLE_H_
#define KEEPSAKE_TESTS_CORE_PAGE_TABLE_H_

#include <cstdint>
#include <map>

#include "text/segment_pages.h"
#include "text/text_index.h"

namespace keepsake::search {

class PageTable final : public PageSource {
 public:
  Status ReadPage(PageNumber number, FunctionRef<void(ByteView)> use) override {
    if (const auto found = pages.find(number); found != pages.end()) use(found->second);
    return {};
  }
  void Keep(TextIndex& index) {
    for (const std::uint32_t segment : index.dropped()) {
      pages.erase(pages.lower_bound(PageOf(segment, 0)), pages.lower_bound(PageOf(segment + 1, 0)));
    }
    for (const auto& [number, page] : index.unwritten()) pages[number] = page;
    state = index.State();
    index.NoteWritten();
  }

  std::map<PageNumber, Bytes> pages;
  Bytes state;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TESTS_CORE_PAGE_TABLE_H_
