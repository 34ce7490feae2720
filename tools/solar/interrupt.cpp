#include "interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "command.h"
#include "frontend/temporary_folder.h"

namespace solar::cli {

std::atomic<bool> progress_shown = false;

namespace {

std::atomic<bool> cancelled = false;

constexpr unsigned kOrderlySeconds = 3;

void write_error(std::string_view text) {
  // Where stderr cannot be written there is nobody to tell.
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Of a handler: everything here is async-signal-safe.
[[noreturn]] void end_at_once() {
  if (progress_shown) write_error("\r\x1b[K");
  write_error("error[interrupted]: interrupted\n");
  frontend::TemporaryFolder::remove_in_handler();
  std::_Exit(kInterrupted);
}

void on_interrupt(int) {
  if (cancelled.exchange(true)) end_at_once();
  ::alarm(kOrderlySeconds);
}

void on_alarm(int) { end_at_once(); }

}  // namespace

const std::atomic<bool>& interruptions() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, on_interrupt);
  std::signal(SIGALRM, on_alarm);
  return cancelled;
}

}  // namespace solar::cli
