#include <cstdio>
#include <cstdlib>

#include "base/result.h"

namespace solar {

void check_failed(const char* file, int line, const char* condition, const char* what) {
  std::fprintf(stderr, "solar: internal error: %s (%s:%d: %s)\n", what, file, line, condition);
  std::fprintf(stderr, "solar: this is a bug in solar, not in your program\n");
  std::_Exit(70);
}

}  // namespace solar
