// Vectors as a model makes them: a few subjects, many variations of each, so that
// the neighbours of a vector are much nearer than the rest. Seeded.
#ifndef KEEPSAKE_TESTS_CORE_CLUSTERED_VECTORS_H_
#define KEEPSAKE_TESTS_CORE_CLUSTERED_VECTORS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace keepsake {

class ClusteredVectors {
 public:
  ClusteredVectors(std::size_t dims, std::size_t clusters, std::uint32_t seed) : random_(seed) {
    for (std::size_t i = 0; i < clusters; ++i) centres_.push_back(Around({}, dims, 1));
  }

  std::vector<float> Next() {
    const std::vector<float>& centre = centres_[random_() % centres_.size()];
    return Around(centre, centre.size(), 0.6F);
  }

 private:
  std::vector<float> Around(const std::vector<float>& centre, std::size_t dims, float spread) {
    std::normal_distribution<float> noise(0, spread);
    std::vector<float> vector(dims);
    for (std::size_t i = 0; i < dims; ++i) {
      vector[i] = (centre.empty() ? 0 : centre[i]) + noise(random_);
    }
    return vector;
  }

  std::mt19937 random_;
  std::vector<std::vector<float>> centres_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_TESTS_CORE_CLUSTERED_VECTORS_H_
