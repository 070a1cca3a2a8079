#include "sql/file_trees.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "sql/file_pages.h"
#include "sql/file_sums.h"

namespace keepsake::sql {
namespace {

constexpr std::uint16_t kNoTree = 0, kFree = 1;

std::int64_t BigSigned(ByteView bytes) {
  std::uint64_t number = (bytes[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  for (const std::uint8_t byte : bytes) number = (number << 8) | byte;
  return static_cast<std::int64_t>(number);
}

std::size_t SizeOf(std::uint64_t type) {
  constexpr std::size_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < 12 ? kSizes[type] : static_cast<std::size_t>((type - 12) / 2);
}

Param ValueOf(std::uint64_t type, ByteView bytes) {
  switch (type) {
    case 0:
      return std::monostate();
    case 7:
      return std::bit_cast<double>(BigSigned(bytes));
    case 8:
    case 9:
      return static_cast<std::int64_t>(type - 8);
    default:
      break;
  }
  if (type < 7) return BigSigned(bytes);
  if (type % 2 == 0) return bytes;
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// False if it is no record.
bool ReadRecord(ByteView payload, std::vector<Param>* values) {
  std::size_t at = 0;
  const auto header = TakeVarint(payload, &at);
  if (!header || *header > payload.size()) return false;
  std::size_t body = static_cast<std::size_t>(*header);
  const ByteView types = payload.first(body);
  while (at < types.size()) {
    const auto type = TakeVarint(types, &at);
    if (!type || *type > 2 * kMostPayload) return false;
    const std::size_t size = SizeOf(*type);
    if (size > payload.size() - body) return false;
    values->push_back(ValueOf(*type, payload.subspan(body, size)));
    body += size;
  }
  return true;
}

std::string_view TextOf(const Param& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  return text == nullptr ? std::string_view() : *text;
}

std::vector<std::uint8_t> ShapeOf(const TreeRow& row) {
  std::vector<std::uint8_t> shape;
  for (const Param& value : row.values) shape.push_back(static_cast<std::uint8_t>(value.index()));
  return shape;
}

// NULL fits everything.
bool LookAlike(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return std::ranges::equal(a, b, [](auto x, auto y) { return x == y || x == 0 || y == 0; });
}

// One of them may be older than the last columns of the other.
bool BeginAlike(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  const std::size_t columns = std::min(a.size(), b.size());
  return LookAlike(a.first(columns), b.first(columns));
}

// The frames of a log, as SQLite recovers them: up to the last commit whose checksums are right.
class LogFrames {
 public:
  LogFrames(ByteView log, std::uint32_t page_size) : log_(log), page_size_(page_size) {}

  // Calls `on_page` with each page of a commit.
  void ForEach(FunctionRef<void(std::uint32_t number, ByteView page)> on_page) {
    constexpr std::size_t kHeader = 32, kFrameHeader = 24;
    if (log_.size() < kHeader || Big32(log_.data() + 8) != page_size_) return;
    constexpr std::uint32_t kMagic = 0x377F0682;
    if ((Big32(log_.data()) & ~1U) != kMagic) return;
    is_big_endian_ = (Big32(log_.data()) & 1U) != 0;
    Add(log_.first(24));
    if (!Holds(log_.data() + 24)) return;
    std::size_t begin = kHeader;
    const std::size_t frame_size = kFrameHeader + page_size_;
    for (std::size_t at = kHeader; at + frame_size <= log_.size(); at += frame_size) {
      const ByteView frame = log_.subspan(at, frame_size);
      if (std::memcmp(frame.data() + 8, log_.data() + 16, 8) != 0) return;  // salts
      Add(frame.first(8));
      Add(frame.subspan(kFrameHeader));
      if (!Holds(frame.data() + 16)) return;
      if (Big32(frame.data() + 4) == 0) continue;
      for (; begin <= at; begin += frame_size) {
        on_page(Big32(log_.data() + begin), log_.subspan(begin + kFrameHeader, page_size_));
      }
    }
  }

 private:
  std::uint32_t WordAt(const std::uint8_t* at) const {
    const std::uint32_t word = Big32(at);
    return is_big_endian_ ? word : std::byteswap(word);
  }
  void Add(ByteView bytes) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      first_ += WordAt(bytes.data() + i) + second_;
      second_ += WordAt(bytes.data() + i + 4) + first_;
    }
  }
  bool Holds(const std::uint8_t* at) const {
    return Big32(at) == first_ && Big32(at + 4) == second_;
  }

  ByteView log_;
  std::uint32_t page_size_;
  bool is_big_endian_ = false;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

}  // namespace

struct FileTrees::Page {
  std::uint32_t number = 0;
  Bytes bytes;
  std::uint32_t reserved = 0;

  ByteView content() const { return ByteView(bytes).first(bytes.size() - reserved); }
  std::size_t header() const { return number == 1 ? kFileHeaderBytes : 0; }
  std::uint8_t type() const { return bytes[header()]; }
  bool is_inner() const { return type() == kInnerIndex || type() == kInnerTable; }
  bool is_leaf() const { return type() == kLeafIndex || type() == kLeafTable; }
  bool is_table() const { return type() == kInnerTable || type() == kLeafTable; }
  std::size_t cells() const { return Big16(bytes.data() + header() + 3); }
  std::uint32_t last_child() const { return Big32(bytes.data() + header() + 8); }
  // Where the n-th cell begins; past the end if it is nowhere.
  std::size_t CellAt(std::size_t n) const {
    const std::size_t pointer = header() + (is_inner() ? 12U : 8U) + 2 * n;
    return pointer + 2 <= content().size() ? Big16(bytes.data() + pointer) : bytes.size();
  }
};

Result<std::unique_ptr<FileTrees>> FileTrees::Of(RawFile& file) {
  std::unique_ptr<FileTrees> trees(new FileTrees(file));
  if (Status status = trees->ReadHeader(); !status.ok()) return std::unexpected(std::move(status));
  return trees;
}

Result<std::unique_ptr<FileTrees>> FileTrees::WithLog(RawFile& file) {
  Result<std::unique_ptr<FileTrees>> trees = Of(file);
  if (trees) (*trees)->ReadLog();
  return trees;
}

Status FileTrees::ReadHeader() {
  constexpr std::uint32_t kUsualPageSize = 4096;
  const Result<std::uint64_t> size = file_.FileBytes();
  if (!size) return size.error();
  Bytes header(kFileHeaderBytes);
  // Of a shorter file there may be a log.
  Status status = *size < header.size() ? Status() : file_.ReadFile(0, header);
  if (!status.ok() && status.code() != StatusCode::kCorrupt) return status;
  const std::uint32_t stored = Big16(header.data() + 16) == 1 ? 65536 : Big16(header.data() + 16);
  // Page 1 may be what is damaged. Then the size is ours, if that fits.
  Bytes page(std::has_single_bit(stored) && stored >= 512 ? stored : kUsualPageSize);
  const bool is_whole = *size >= page.size() && file_.ReadFile(0, page).ok() && HasSum(page, 1);
  const std::uint32_t reserved = page[20];
  reserved_ = is_whole && HasRoomForSum(reserved) ? reserved : file_.reserved_bytes();
  page_size_ = is_whole ? static_cast<std::uint32_t>(page.size()) : kUsualPageSize;
  page_count_ = static_cast<std::uint32_t>(*size / page_size_);
  held_by_.assign(page_count_ + 1, kNoTree);
  trees_ = {{.name = ""}, {.name = "free"}};
  return Status();
}

void FileTrees::ReadLog() {
  const Bytes log = file_.ReadLogFile();
  LogFrames(log, page_size_).ForEach([&](std::uint32_t number, ByteView page) {
    in_log_[number].assign(page.begin(), page.end());
    page_count_ = std::max(page_count_, number);
  });
  held_by_.assign(page_count_ + 1, kNoTree);
}

bool FileTrees::Read(std::uint32_t number, Page* page) {
  page->number = number;
  page->reserved = reserved_;
  if (const auto found = in_log_.find(number); found != in_log_.end()) {
    page->bytes = found->second;
    return true;
  }
  page->bytes.resize(page_size_);
  const std::uint64_t offset = std::uint64_t{number - 1} * page_size_;
  return file_.ReadFile(offset, page->bytes).ok() && HasSum(page->bytes, number);
}

std::string FileTrees::HeldBy(std::uint32_t page) const {
  return page < held_by_.size() ? trees_[held_by_[page]].name : std::string();
}

// For a tree, unless it has one already: then pages name each other in a circle.
bool FileTrees::Take(std::uint32_t number, std::uint16_t tree) {
  if (number == 0 || number > page_count_ || held_by_[number] != kNoTree) return false;
  held_by_[number] = tree;
  return true;
}

void FileTrees::NoteDamage(std::uint32_t number, std::uint16_t tree) {
  damaged_.push_back({.number = number, .held = trees_[tree].name});
  trees_[tree].is_damaged = true;
}

void FileTrees::ReadAll(const OnRow& on_row, std::span<const TreeLayout> usual) {
  ReadSchema(usual);
  const auto named = static_cast<std::uint16_t>(trees_.size());
  for (std::uint16_t tree = 3; tree < named; ++tree) {
    if (Take(trees_[tree].root, tree)) ReadTree(tree, on_row);
  }
  const bool any_damaged = std::ranges::any_of(trees_, &Tree::is_damaged);
  if (any_damaged && TakeFreePages()) ReadOrphans(on_row);
}

// Which trees there are. It is a tree itself, with its root in page 1.
void FileTrees::ReadSchema(std::span<const TreeLayout> usual) {
  constexpr std::uint16_t kSchemaTree = 2;
  trees_.push_back({.name = "sqlite_schema", .root = 1});
  Take(1, kSchemaTree);
  ReadTree(kSchemaTree, [&](std::string_view, const TreeRow& row) { AddTree(row); });
  if (!trees_[kSchemaTree].is_damaged) return;
  const auto fitting = std::ranges::find_if(usual, [&](const auto& each) { return Fits(each); });
  if (fitting == usual.end()) return;
  trees_.resize(kSchemaTree + 1);
  for (const TreeRoot& root : *fitting) trees_.push_back({.name = root.name, .root = root.page});
}

// Whether the file has a tree of the right kind in each of its places.
bool FileTrees::Fits(const TreeLayout& layout) {
  Page page;
  return std::ranges::all_of(layout, [&](const TreeRoot& root) {
    if (root.page > page_count_) return false;
    // One that is damaged, too, may be anything.
    if (!Read(root.page, &page)) return true;
    return (page.is_inner() || page.is_leaf()) && page.is_table() != root.is_index;
  });
}

void FileTrees::AddTree(const TreeRow& row) {
  if (row.values.size() != 5) return;
  const auto* root = std::get_if<std::int64_t>(&row.values[3]);
  if (root == nullptr || *root < 2 || *root > page_count_) return;
  const std::string_view name = TextOf(row.values[1]);
  if (std::ranges::find(trees_, name, &Tree::name) != trees_.end()) return;
  trees_.push_back({.name = std::string(name), .root = static_cast<std::uint32_t>(*root)});
}

void FileTrees::ReadTree(std::uint16_t tree, const OnRow& on_row) {
  std::vector<std::uint32_t> waiting = {trees_[tree].root};
  Page page;
  while (!waiting.empty()) {
    const std::uint32_t number = waiting.back();
    waiting.pop_back();
    if (!Read(number, &page) || !(page.is_inner() || page.is_leaf())) {
      NoteDamage(number, tree);
      continue;
    }
    trees_[tree].kind = page.is_table() ? Kind::kTable : Kind::kIndex;
    if (page.is_inner()) {
      if (Take(page.last_child(), tree)) waiting.push_back(page.last_child());
      for (std::size_t i = page.cells(); i-- > 0;) {
        const std::size_t at = page.CellAt(i);
        if (at + 4 > page.content().size()) continue;
        const std::uint32_t child = Big32(page.bytes.data() + at);
        if (Take(child, tree)) waiting.push_back(child);
      }
    }
    ReadCells(page, tree, on_row);
  }
}

void FileTrees::ReadCells(const Page& page, std::uint16_t tree, const OnRow& on_row) {
  if (page.type() == kInnerTable) return;  // has no rows
  const ByteView content = page.content();
  for (std::size_t i = 0; i < page.cells(); ++i) {
    std::size_t at = page.CellAt(i);
    if (at >= content.size()) continue;
    if (page.is_inner()) at += 4;
    const auto size = TakeVarint(content, &at);
    if (!size || *size > kMostPayload) continue;
    std::optional<std::int64_t> row_id;
    if (page.is_table()) {
      const auto id = TakeVarint(content, &at);
      if (!id) continue;
      row_id = static_cast<std::int64_t>(*id);
    }
    ReadPayload(page, at, *size, tree, row_id, on_row);
  }
}

void FileTrees::ReadPayload(const Page& page, std::size_t at, std::uint64_t size,
                            std::uint16_t tree, std::optional<std::int64_t> row_id,
                            const OnRow& on_row) {
  const ByteView content = page.content();
  const std::uint64_t usable = content.size();
  const std::uint64_t local = LocalBytes(size, usable, page.is_table());
  const std::uint64_t pointer = local < size ? 4 : 0;
  if (at + local + pointer > usable) return;
  const ByteView begin = content.subspan(at, static_cast<std::size_t>(local));
  Bytes payload(begin.begin(), begin.end());
  if (pointer != 0) {
    const std::uint32_t overflow = Big32(content.data() + at + local);
    if (!Gather(overflow, size - local, tree, &payload)) return;
  }
  TreeRow row{.row_id = row_id, .values = {}};
  if (!ReadRecord(payload, &row.values)) return;
  if (trees_[tree].shape.empty()) trees_[tree].shape = ShapeOf(row);
  on_row(trees_[tree].name, row);
}

// The rest of a row, from page to page.
bool FileTrees::Gather(std::uint32_t overflow, std::uint64_t missing, std::uint16_t tree,
                       Bytes* payload) {
  Page page;
  while (missing > 0) {
    // Without a tree it is only looked at.
    if (tree == kNoTree ? overflow == 0 || overflow > page_count_ : !Take(overflow, tree)) {
      return false;
    }
    if (!Read(overflow, &page)) {
      if (tree != kNoTree) NoteDamage(overflow, tree);
      return false;
    }
    const std::size_t size =
        static_cast<std::size_t>(std::min<std::uint64_t>(missing, page.content().size() - 4));
    const ByteView part = page.content().subspan(4, size);
    payload->insert(payload->end(), part.begin(), part.end());
    missing -= size;
    overflow = Big32(page.bytes.data());
  }
  return true;
}

// False if not all of them are known: a page of the past must not be taken for one of today.
bool FileTrees::TakeFreePages() {
  Page page;
  if (!Read(1, &page)) return false;
  std::uint32_t trunk = Big32(page.bytes.data() + 32);
  while (trunk != 0) {
    if (!Take(trunk, kFree) || !Read(trunk, &page)) return false;
    const std::size_t leaves = Big32(page.bytes.data() + 4);
    if (leaves > (page.content().size() - 8) / 4) return false;
    for (std::size_t i = 0; i < leaves; ++i) Take(Big32(page.bytes.data() + 8 + 4 * i), kFree);
    trunk = Big32(page.bytes.data());
  }
  return true;
}

// A leaf that no tree has belongs to the damaged tree whose rows look like its rows, if there
// is only one.
void FileTrees::ReadOrphans(const OnRow& on_row) {
  Page page;
  for (std::uint32_t number = 2; number <= page_count_; ++number) {
    if (held_by_[number] != kNoTree || !Read(number, &page)) continue;
    if (!page.is_leaf() && page.type() != kInnerIndex) continue;  // others have no rows
    std::vector<std::uint8_t> shape;
    ReadCells(page, kNoTree, [&](std::string_view, const TreeRow& row) { shape = ShapeOf(row); });
    trees_[kNoTree].shape.clear();
    auto alike = LookAlike;
    const auto is_its = [&](const Tree& tree) {
      return tree.is_damaged && (tree.kind == Kind::kTable) == page.is_table() &&
             !tree.shape.empty() && alike(tree.shape, shape);
    };
    if (std::ranges::none_of(trees_, is_its)) alike = BeginAlike;
    if (std::ranges::count_if(trees_, is_its) != 1) continue;
    const auto tree = std::ranges::find_if(trees_, is_its) - trees_.begin();
    if (Take(number, static_cast<std::uint16_t>(tree))) {
      ReadCells(page, static_cast<std::uint16_t>(tree), on_row);
    }
  }
}

}  // namespace keepsake::sql
