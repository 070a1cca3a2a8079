// libFuzzer's entry. A good corpus is JSON, each text after a byte 1.
#include <cstdio>
#include <cstdlib>

#include "json_judge.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string difference = keepsake::fuzz::RunJson({data, size});
  if (difference.empty()) return 0;
  std::fprintf(stderr, "Ours and nlohmann::json differ in %s\n", difference.c_str());
  std::abort();
}
