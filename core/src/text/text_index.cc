#include "text/text_index.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/heap_sort.h"
#include "text/text_record.h"
#include "text/text_weights.h"

namespace keepsake::search {
namespace {

// Neighbours are judged anew when the number of items has changed by this part.
constexpr double kJudgedAgain = 0.1;
// A word that a greater part of all items holds says nothing of neighbours.
constexpr double kMostHolders = 0.25;
// So many postings tell: of more, about each second token is looked at, or each third, …: the
// same ones in whatever order they came.
constexpr std::size_t kPostingsJudged = 100'000;
// Removed items are dropped when so many of all are, and there are so many.
constexpr std::size_t kMostRemoved = 64;
// So many, or an eighth of all, are put before they get their places.
constexpr std::size_t kMostAdded = 512;

}  // namespace

std::uint32_t TextShelf::NumberOf(std::string_view name, std::vector<std::string>& names,
                                  std::map<std::string, std::uint32_t, std::less<>>& numbers) {
  if (name.empty()) return 0;
  const auto known = numbers.find(name);
  if (known != numbers.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(names.size());
  names.emplace_back(name);
  numbers.emplace(name, number);
  return number;
}

void TextShelf::Put(std::int64_t id, ByteView record, const TextConfig& config) {
  Remove(id);
  RecordReader reader(record);
  const auto slot = static_cast<std::uint32_t>(items_.size());
  Item item{.id = id,
            .length = reader.length(),
            .flags = static_cast<std::uint8_t>(reader.flags()),
            .speaker =
                static_cast<std::uint16_t>(NumberOf(reader.speaker(), speakers_, speaker_numbers_)),
            .group = NumberOf(reader.group(), groups_, group_numbers_),
            .blocks = std::max<std::uint32_t>((reader.length() + kBlockWords - 1) / kBlockWords, 1),
            .first_block = static_cast<std::uint32_t>(blocks_),
            .position = reader.position()};
  while (reader.Next()) {
    // Most are known: a text is made of those only that are not.
    auto token = tokens_.find(reader.token());
    if (token == tokens_.end()) {
      token = tokens_.try_emplace(std::string(reader.token())).first;
      all_tokens_.push_back({&*token, WordMark(token->first)});
    }
    Postings& postings = token->second;
    for (const RecordReader::InBlock& in : reader.Blocks(config)) {
      // What stands behind the last word is in the last block.
      const std::uint32_t block = std::min(in.block, item.blocks - 1);
      if (!postings.empty() && postings.back().slot == slot && postings.back().block == block) {
        postings.back().weight += static_cast<float>(in.weight);
      } else {
        postings.push_back({slot, block, static_cast<float>(in.weight)});
        ++postings_;
      }
    }
    if (!reader.written().empty() && !written_.contains(reader.written())) {
      const auto written =
          written_.try_emplace(std::string(reader.written()), reader.token()).first;
      all_written_.push_back({&*written, WordMark(written->first)});
    }
  }
  blocks_ += item.blocks;
  length_ += item.length;
  spoken_ += (item.flags & RecordReader::kSpoken) != 0 ? 1 : 0;
  squared_lengths_ += static_cast<double>(item.length) * item.length;
  slots_.emplace_hint(slots_.end(), id, slot);
  if (is_in_sequence_) {
    const bool is_last =
        sequence_.empty() ||
        (item.group == 0 && item.position == 0 &&
         std::tie(items_[sequence_.back()].group, items_[sequence_.back()].position,
                  items_[sequence_.back()].id) < std::tie(item.group, item.position, item.id));
    is_in_sequence_ = is_last;
    if (is_last) {
      places_.resize(slot + 1);
      places_[slot] = static_cast<std::uint32_t>(sequence_.size());
      sequence_.push_back(slot);
    }
  }
  items_.push_back(item);
  // So that no search has many to sort.
  const std::size_t added = items_.size() - places_.size();
  if (added > std::max(kMostAdded, sequence_.size() / 8)) MakeSequence();
}

void TextShelf::Remove(std::int64_t id) {
  const auto found = slots_.find(id);
  if (found == slots_.end()) return;
  Item& item = items_[found->second];
  length_ -= item.length;
  spoken_ -= (item.flags & RecordReader::kSpoken) != 0 ? 1 : 0;
  squared_lengths_ -= static_cast<double>(item.length) * item.length;
  item.id = 0;
  is_in_sequence_ = false;
  slots_.erase(found);
  if (items_.size() - slots_.size() > std::max(kMostRemoved, slots_.size())) DropRemoved();
}

void TextShelf::DropRemoved() {
  MakeSequence();
  std::vector<std::uint32_t> new_slots(items_.size());
  std::vector<Item> left;
  blocks_ = 0;
  for (std::size_t slot = 0; slot < items_.size(); ++slot) {
    if (items_[slot].id == 0) continue;
    new_slots[slot] = static_cast<std::uint32_t>(left.size());
    slots_[items_[slot].id] = new_slots[slot];
    left.push_back(items_[slot]);
    left.back().first_block = static_cast<std::uint32_t>(blocks_);
    blocks_ += left.back().blocks;
  }
  for (auto token = tokens_.begin(); token != tokens_.end();) {
    Postings& postings = token->second;
    std::erase_if(postings, [&](const Posting& posting) { return items_[posting.slot].id == 0; });
    for (Posting& posting : postings) posting.slot = new_slots[posting.slot];
    token = postings.empty() ? tokens_.erase(token) : std::next(token);
  }
  std::erase_if(written_, [&](const auto& word) { return !tokens_.contains(word.second); });
  ListWords();
  items_ = std::move(left);
  for (std::uint32_t& slot : sequence_) slot = new_slots[slot];
  places_.resize(items_.size());
  is_in_sequence_ = false;
}

void TextShelf::ListWords() {
  all_tokens_.clear();
  all_written_.clear();
  postings_ = 0;
  for (const auto& token : tokens_) {
    all_tokens_.push_back({&token, WordMark(token.first)});
    postings_ += token.second.size();
  }
  for (const auto& word : written_) all_written_.push_back({&word, WordMark(word.first)});
}

bool TextShelf::IsCoherent() const {
  const auto known = static_cast<double>(judged_at_), now = static_cast<double>(live());
  if (std::abs(now - known) > kJudgedAgain * known) JudgeCoherence();
  return is_coherent_;
}

// Of a word that n of all N items hold, n (n - 1) / N pairs of neighbours hold it by chance.
void TextShelf::JudgeCoherence() const {
  judged_at_ = live();
  const std::vector<std::uint32_t>& places = Places();
  double pairs = 0, by_chance = 0;
  std::vector<std::uint32_t> holders;
  const std::size_t step = 1 + postings_ / kPostingsJudged;
  for (const auto& [token, mark] : all_tokens_) {
    if (mark.number() % step != 0) continue;
    const Postings& postings = token->second;
    holders.clear();
    for (const Posting& posting : postings) {
      if (posting.weight > 0 && items_[posting.slot].id != 0) {
        holders.push_back(places[posting.slot]);
      }
    }
    if (!std::ranges::is_sorted(holders)) HeapSort(holders, std::less());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
    const auto count = static_cast<double>(holders.size());
    if (count > kMostHolders * static_cast<double>(live())) continue;
    for (std::size_t i = 1; i < holders.size(); ++i) pairs += holders[i] == holders[i - 1] + 1;
    by_chance += count * (count - 1) / static_cast<double>(live());
  }
  is_coherent_ = pairs - by_chance > kTextWeights.beyond_chance * std::sqrt(by_chance + 1);
}

const TextShelf::Postings* TextShelf::Find(std::string_view token) const {
  const auto found = tokens_.find(token);
  return found == tokens_.end() ? nullptr : &found->second;
}

std::size_t TextShelf::SlotOf(std::int64_t id) const {
  const auto found = slots_.find(id);
  return found == slots_.end() ? items_.size() : found->second;
}

const std::vector<std::uint32_t>& TextShelf::Sequence() const {
  if (!is_in_sequence_) MakeSequence();
  return sequence_;
}

const std::vector<std::uint32_t>& TextShelf::Places() const {
  if (!is_in_sequence_) MakeSequence();
  return places_;
}

// Few slots are new, most of the time.
void TextShelf::MakeSequence() const {
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    const Item &one = items_[a], &other = items_[b];
    return std::tie(one.group, one.position, one.id) <
           std::tie(other.group, other.position, other.id);
  };
  const auto is_removed = [&](std::uint32_t slot) { return items_[slot].id == 0; };
  std::vector<std::uint32_t> added, all;
  for (std::size_t slot = places_.size(); slot < items_.size(); ++slot) {
    added.push_back(static_cast<std::uint32_t>(slot));
  }
  std::erase_if(added, is_removed);
  std::erase_if(sequence_, is_removed);
  HeapSort(added, is_before);
  all.reserve(sequence_.size() + added.size());
  std::ranges::merge(sequence_, added, std::back_inserter(all), is_before);
  sequence_ = std::move(all);
  places_.assign(items_.size(), kNowhere);
  for (std::size_t place = 0; place < sequence_.size(); ++place) {
    places_[sequence_[place]] = static_cast<std::uint32_t>(place);
  }
  is_in_sequence_ = true;
}

void TextIndex::Put(std::int64_t id, std::string_view encoded_ns, ByteView record,
                    const TextConfig& config) {
  Remove(id);
  TextShelf& shelf = shelves_.try_emplace(std::string(encoded_ns)).first->second;
  words_ -= shelf.length();
  shelf.Put(id, record, config);
  words_ += shelf.length();
  ns_of_.emplace_hint(ns_of_.end(), id, &shelf);
}

void TextIndex::Remove(std::int64_t id) {
  const auto found = ns_of_.find(id);
  if (found == ns_of_.end()) return;
  words_ -= found->second->length();
  found->second->Remove(id);
  words_ += found->second->length();
  ns_of_.erase(found);
}

std::vector<const TextShelf*> TextIndex::Below(std::string_view encoded_prefix) const {
  std::vector<const TextShelf*> below;
  for (auto shelf = shelves_.lower_bound(encoded_prefix);
       shelf != shelves_.end() && shelf->first.starts_with(encoded_prefix); ++shelf) {
    below.push_back(&shelf->second);
  }
  return below;
}

}  // namespace keepsake::search
