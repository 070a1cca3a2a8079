// An Embedder turns texts into vectors. The host brings it; keepsake has no model.
#ifndef KEEPSAKE_EMBEDDER_H_
#define KEEPSAKE_EMBEDDER_H_

#include <span>
#include <string>
#include <vector>

#include "keepsake/status.h"

namespace keepsake {

class Embedder {
 public:
  virtual ~Embedder() = default;
  // One vector per text, in order, each of the index's length.
  virtual Result<std::vector<std::vector<float>>> EmbedDocuments(
      std::span<const std::string> texts) = 0;
  virtual Result<std::vector<float>> EmbedQuery(const std::string& text) = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_EMBEDDER_H_
