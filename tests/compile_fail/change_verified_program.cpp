// A VerifiedProgram cannot be changed after its verification.
// EXPECT: .*(discards qualifiers|in read-only object|passing .const)
#include "ir/core.h"

#ifdef SOLAR_MUST_NOT_COMPILE
void change(solar::ir::VerifiedProgram& program) { program->statements.clear(); }
#else
size_t look(const solar::ir::VerifiedProgram& program) { return program->statements.size(); }
#endif
