// libFuzzer's entry. A good corpus is the requests of tests/golden, each after a
// zero byte.
#include <cstdio>
#include <cstdlib>

#include "frame_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string difference = keepsake::fuzz::RunInput({data, size});
  if (difference.empty()) return 0;
  std::fprintf(stderr, "The engines differ in their answers %s\n", difference.c_str());
  std::abort();
}
