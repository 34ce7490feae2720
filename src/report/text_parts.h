#pragma once
// What the text reports have in common.

#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "report/text.h"

namespace solar::report {

enum class Tone { Heading, Good, Warning, Failure };

/// The width and colours of one rendering.
class Style {
 public:
  explicit Style(const TextOptions& options);
  size_t width() const { return width_; }
  /// The text in the tone's colour, or plain. Not for text that is padded afterwards.
  std::string paint(Tone tone, std::string_view text) const;
  /// A line of its own.
  std::string heading(std::string_view text) const;
  /// A paragraph that starts with `name`, in the tone's colour, and `: `.
  std::string titled(Tone tone, std::string_view name, std::string_view text) const;

 private:
  size_t width_;
  bool colour_;
};

/// The bounds of one architecture; null where one is missing.
struct ArchBounds {
  std::string arch;
  const Bound* unfused = nullptr;
  const Bound* fused = nullptr;
  const Bound* algebraic = nullptr;
  const Bound* cache_aware = nullptr;
};

/// In the report's order.
std::vector<ArchBounds> by_arch(const Report& report);

/// `memory-limited`, `limited by the tensor units`.
std::string limited_by(std::string_view limiter);

/// One paragraph: passed and how, or loud: failed, or not validated.
std::string validation_text(const Validation& validation, const Style& style);
/// What dropping each assumption of the first architecture's fused bound is worth.
std::string without_text(const std::vector<ArchBounds>& archs, const Style& style);
/// The warnings that the validation's paragraph does not say, a line each.
std::string warnings_text(const std::vector<std::string>& warnings, const Style& style);
/// A loud line for each way in which the program does less than it seems to.
std::string degenerate_text(const std::vector<Degenerate>& degenerate, const Style& style);
/// `push-sum at net.py:12`.
std::string name_of(const Rewrite& rewrite);
/// A line each, how they were validated, and what was not done.
std::string rewrites_text(const std::vector<Rewrite>& rewrites,
                          const std::vector<std::string>& notes, const Style& style);
/// The rewrites of the algebraic mode and what was dropped; nothing where there is neither.
std::string algebra_text(const Report& report, const std::vector<ArchBounds>& archs,
                         const Style& style);
/// What the chip's capacity forces, and what a plan reaches; nothing where it was not asked for.
std::string cache_text(const std::vector<ArchBounds>& archs, const Style& style);
/// Which assumptions the bounds rest on; those of only some bounds say of which.
std::string assumptions_text(const Report& report, const Style& style);
std::string assumptions_text(const std::vector<std::string>& assumptions, const Style& style);
/// `model.py: Model, eval mode, 12 source operators`.
std::string title_text(const Report& report, const Style& style);

}  // namespace solar::report
