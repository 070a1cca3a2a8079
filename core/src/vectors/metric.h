// A Metric says what makes two vectors near. Scores are higher for nearer ones.
#ifndef KEEPSAKE_VECTORS_METRIC_H_
#define KEEPSAKE_VECTORS_METRIC_H_

#include <cstdint>

namespace keepsake::search {

enum class Metric : std::uint8_t {
  kCosine,  // −1…1
  kIp,      // inner product
  kL2sq,    // minus the squared distance
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_VECTORS_METRIC_H_
