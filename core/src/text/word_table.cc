#include "text/word_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/common_prefix.h"

namespace keepsake::search {
namespace {

constexpr std::size_t kBlockBytes = 2048;
// So many bytes of blocks are written one after the other: who walks over the words reads little
// else.
constexpr std::size_t kWrittenAtOnce = 8 * kPageBytes;

Status Damaged() { return {StatusCode::kCorrupt, "the words of an index of texts are damaged"}; }

}  // namespace

void WordTableWriter::Add(std::string_view word, ByteView payload) {
  if (block_.empty()) {
    first_ = word;
    last_.clear();
  }
  const std::size_t shared = CommonPrefix(BytesOf(last_), BytesOf(word));
  AppendVarint(shared, block_);
  AppendText(word.substr(shared), block_);
  AppendVarint(payload.size(), block_);
  Append(payload, block_);
  last_ = word;
  if (block_.size() >= kBlockBytes) EndBlock();
}

void WordTableWriter::EndBlock() {
  if (block_.empty()) return;
  blocks_.push_back({std::exchange(first_, {}), gathered_.size(), block_.size()});
  Append(block_, gathered_);
  block_.clear();
}

bool WordTableWriter::IsLong() const { return gathered_.size() >= kWrittenAtOnce; }

void WordTableWriter::WriteBlocks(SegmentWriter& out) {
  for (; written_ < blocks_.size(); ++written_) blocks_[written_].offset += out.size();
  out.Append(gathered_);
  gathered_.clear();
}

void WordTableWriter::Finish(SegmentWriter& out) {
  EndBlock();
  WriteBlocks(out);
}

void WordTableWriter::AppendTable(Bytes& out) const {
  AppendVarint(blocks_.size(), out);
  for (const WordBlock& block : blocks_) {
    AppendText(block.first, out);
    AppendVarint(block.offset, out);
    AppendVarint(block.length, out);
  }
}

bool WordTable::Open(SegmentPages& pages, std::uint32_t segment, ByteReader& table) {
  pages_ = &pages;
  segment_ = segment;
  for (std::uint64_t left = table.Varint(); left > 0 && table.ok(); --left) {
    WordBlock block;
    block.first = table.Text();
    block.offset = table.Varint();
    block.length = table.Varint();
    blocks_.push_back(std::move(block));
  }
  return table.ok();
}

std::size_t WordTable::BlockOf(std::string_view word) const {
  const auto behind = std::ranges::upper_bound(blocks_, word, {}, &WordBlock::first);
  const auto blocks = static_cast<std::size_t>(behind - blocks_.begin());
  return blocks == 0 ? 0 : blocks - 1;
}

Status WordTable::ReadBlock(std::size_t block, Bytes& out) const {
  out.clear();
  return pages_->Read(segment_, blocks_[block].offset, blocks_[block].length, out);
}

Result<std::optional<Bytes>> WordTable::Find(std::string_view word) const {
  const std::size_t at = BlockOf(word);
  if (blocks_.empty()) return std::nullopt;
  Bytes block;
  if (Status status = ReadBlock(at, block); !status.ok()) return std::unexpected(std::move(status));
  ByteReader reader(block);
  // How many bytes the word has in common with the entry before, which it stands behind: an entry
  // that shares more with that one stands before the word, too.
  std::size_t common = 0;
  while (!reader.done()) {
    const std::uint64_t shared = reader.Varint();
    const std::string_view rest = reader.Text();
    const ByteView payload = reader.Take(reader.Varint());
    if (!reader.ok()) return std::unexpected(Damaged());
    if (shared > common) continue;
    if (shared < common) break;
    const std::string_view left = word.substr(common);
    const std::size_t same = CommonPrefix(BytesOf(rest), BytesOf(left));
    if (same == left.size() && same == rest.size()) return Bytes(payload.begin(), payload.end());
    if (left.substr(same) < rest.substr(same)) break;
    common += same;
  }
  return std::nullopt;
}

Status WordTable::Visit(std::string_view beginning,
                        FunctionRef<std::size_t(std::string_view, ByteView)> visit) const {
  Cursor cursor(*this, beginning);
  while (cursor.Next() && cursor.word().starts_with(beginning)) {
    if (const std::size_t bytes = visit(cursor.word(), cursor.payload()); bytes > 0) {
      cursor.Skip(bytes);
    }
  }
  return cursor.status();
}

bool WordTable::Cursor::Next() {
  do {
    if (!skipped_.empty()) SkipInBlock();
    while (!NextInBlock(reader_, word_, payload_)) {
      if (status_.ok() && !reader_.ok()) status_ = Damaged();
      if (!status_.ok() || !NextBlock()) return false;
    }
  } while (word_ < from_ || (!skipped_.empty() && word_.starts_with(skipped_)));
  from_.clear();
  skipped_.clear();
  return true;
}

bool WordTable::Cursor::NextBlock() {
  const std::vector<WordBlock>& blocks = table_->blocks_;
  if (!skipped_.empty()) {
    while (next_ + 1 < blocks.size() && blocks[next_ + 1].first.starts_with(skipped_)) ++next_;
  }
  if (next_ == blocks.size()) return false;
  status_ = table_->ReadBlock(next_++, block_);
  if (!status_.ok()) return false;
  word_.clear();
  reader_ = ByteReader(block_);
  return true;
}

// An entry that shares so much with the one before it begins like that one.
void WordTable::Cursor::SkipInBlock() {
  if (!word_.starts_with(skipped_)) return;
  for (ByteReader reader = reader_; !reader.done(); reader_ = reader) {
    if (reader.Varint() < skipped_.size()) return;
    reader.Text();
    reader.Take(reader.Varint());
    if (!reader.ok()) return;
  }
}

bool NextInBlock(ByteReader& reader, std::string& word, ByteView& payload) {
  if (reader.done()) return false;
  // Most entries are short, and this is done for all words of an index.
  const ByteView left = reader.rest();
  if (left.size() >= 2 && left[0] < 0x80 && left[1] < 0x80) {
    const std::size_t kept = std::min<std::size_t>(left[0], word.size()), added = left[1];
    const std::size_t at = 2 + added;
    if (at < left.size() && left[at] < 0x80 && at + 1 + left[at] <= left.size()) {
      word.resize(kept + added);
      std::memcpy(word.data() + kept, left.data() + 2, added);
      payload = left.subspan(at + 1, left[at]);
      reader = ByteReader(left.subspan(at + 1 + left[at]));
      return true;
    }
  }
  const std::uint64_t shared = reader.Varint();
  const std::string_view rest = reader.Text();
  payload = reader.Take(reader.Varint());
  if (!reader.ok()) return false;
  word.resize(std::min<std::uint64_t>(shared, word.size()));
  word += rest;
  return true;
}

}  // namespace keepsake::search
