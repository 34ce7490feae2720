#pragma once
// Ctrl-C, SIGTERM and SIGHUP: the work is asked to end; where it does not within seconds, or is
// interrupted again, the program ends without it.

#include <atomic>

namespace solar::cli {

/// From now on an interruption sets what is returned.
const std::atomic<bool>& interruptions();

/// Whether the last line on the terminal is a progress line, to be erased before a message.
extern std::atomic<bool> progress_shown;

}  // namespace solar::cli
