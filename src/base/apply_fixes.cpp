#include "base/apply_fixes.h"

#include <algorithm>
#include <map>

namespace solar {
namespace {

bool usable(const Fix& fix, const Source& source, bool also_maybe) {
  const bool sure = fix.confidence == FixConfidence::Always ||
                    (also_maybe && fix.confidence == FixConfidence::Maybe);
  const Span& span = fix.span;
  return sure && span.source != nullptr && span.source->name == source.name &&
         span.source->text == source.text && span.begin >= 0 && span.begin <= span.end &&
         static_cast<size_t>(span.end) <= source.text.size();
}

}  // namespace

FixedText apply_fixes(const Source& source, const Diagnostics& diagnostics, bool also_maybe) {
  std::map<int32_t, AppliedFix> taken;  // by begin
  const auto overlaps = [&](const Span& span) {
    return std::any_of(taken.begin(), taken.end(), [&](const auto& entry) {
      const Span& other = entry.second.span;
      return span.begin == other.begin || (span.begin < other.end && other.begin < span.end);
    });
  };
  for (const Diagnostic& diagnostic : diagnostics) {
    const auto fix = std::find_if(diagnostic.fixes.begin(), diagnostic.fixes.end(),
                                  [&](const Fix& f) { return usable(f, source, also_maybe); });
    if (fix == diagnostic.fixes.end() || overlaps(fix->span)) continue;
    taken.emplace(fix->span.begin, AppliedFix{fix->span, fix->replacement, diagnostic.message});
  }
  FixedText result;
  size_t at = 0;
  for (auto& [begin, fix] : taken) {
    result.text.append(source.text, at, static_cast<size_t>(begin) - at);
    result.text += fix.replacement;
    at = static_cast<size_t>(fix.span.end);
    result.applied.push_back(std::move(fix));
  }
  result.text.append(source.text, at);
  return result;
}

}  // namespace solar
