// Only the verifier makes a VerifiedProgram.
// EXPECT: .*VerifiedProgram.* is private within this context
#include "ir/core.h"

#ifdef SOLAR_MUST_NOT_COMPILE
solar::ir::VerifiedProgram forged(solar::ir::Program program) {
  return solar::ir::VerifiedProgram(std::make_shared<const solar::ir::Program>(std::move(program)));
}
#else
solar::ir::VerifiedProgram copied(const solar::ir::VerifiedProgram& program) { return program; }
#endif
