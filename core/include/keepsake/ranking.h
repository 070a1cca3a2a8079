// How a search by text or by text and vector weighs what it finds, and what it tells
// about it. All of it is applied when reading: nothing of it is stored.
#ifndef KEEPSAKE_RANKING_H_
#define KEEPSAKE_RANKING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keepsake/provenance.h"

namespace keepsake {

// Persistent, never renumber.
enum class Fusion : std::uint8_t {
  kWeighted = 0,        // scores, the vectors' as far as their embedder knows the items
  kReciprocalRank = 1,  // ranks: 1/(60 + rank) of each, whatever the scores are
  kStandout = 2,        // of a rough embedder: it counts where the words are unsure
};

// A number of the value that raises or lowers an item: importance, reward.
struct Boost {
  std::string path;
  double weight = 0;  // −1…1, of a number that is 1; numbers beyond −1…1 count as those

  bool operator==(const Boost&) const = default;
};

// What a hit of an origin is worth: its score times this.
struct OriginWeight {
  Origin origin = Origin::kUnknown;
  double weight = 1;  // 0…1; several of one origin are multiplied

  bool operator==(const OriginWeight&) const = default;
};

struct Ranking {
  std::optional<double> min_score;  // hits below it are left out
  Fusion fusion = Fusion::kWeighted;
  double vector_weight = 0.3;  // 0…1, of kHybrid; the words have the rest
  double recency = 0;          // 0…1: how much of its score an old item loses
  std::int64_t half_life_ms = std::int64_t{7} * 24 * 60 * 60 * 1000;
  std::vector<Boost> boosts;
  double diversity = 0;  // 0…1: how much a hit loses that says what one before it said
  bool explain = false;
  std::uint32_t snippet_length = 0;  // in bytes, about; 0 for no snippets
  // Also of searches by vector, where less than 0 becomes less still. What has no score is not
  // ranked by it.
  std::vector<OriginWeight> origins{};

  bool operator==(const Ranking&) const = default;
};

// A part of a score, in the order in which they were applied: "words", "context",
// "cues", "vector", "agreement", "recency", a boost's path, "origin", "diversity".
struct ScorePart {
  std::string name;
  double value = 0;

  bool operator==(const ScorePart&) const = default;
};

// A piece of an item's text around what was found.
struct Snippet {
  struct Highlight {
    std::uint32_t begin = 0;  // in bytes of `text`
    std::uint32_t end = 0;

    bool operator==(const Highlight&) const = default;
  };
  std::string text;
  std::vector<Highlight> highlights;

  bool operator==(const Snippet&) const = default;
};

}  // namespace keepsake

#endif  // KEEPSAKE_RANKING_H_
