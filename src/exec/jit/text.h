#pragma once
// LLVM IR as text: straight-line code, blocks and counted loops of one function.

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace solar::exec::native {

/// An i64 or other value: a name, `%v12`, or a literal.
using Value = std::string;

inline std::optional<int64_t> literal(const Value& value) {
  if (value.empty() || value[0] == '%') return std::nullopt;
  return std::stoll(value);
}

class Text {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  ";
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
  }
  /// A new value, `%vN = ...`.
  template <class... Args>
  Value let(fmt::format_string<Args...> format, Args&&... args) {
    Value name = fresh("%v");
    fmt::format_to(std::back_inserter(body_), "  {} = ", name);
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
    return name;
  }
  Value fresh(const char* prefix) { return fmt::format("{}{}", prefix, next_++); }

  /// A block; the one before it must have ended in a branch.
  void begin(const std::string& label) {
    body_ += label;
    body_ += ":\n";
    block_ = label;
  }
  void jump(const std::string& label) { line("br label %{}", label); }
  const std::string& block() const { return block_; }

  /// Room on the stack, once per call of the function.
  Value room(const std::string& type) {
    Value name = fresh("%s");
    fmt::format_to(std::back_inserter(rooms_), "  {} = alloca {}, align 32\n", name, type);
    return name;
  }
  void declare(std::string declaration) { declarations_.insert(std::move(declaration)); }
  const std::set<std::string>& declarations() const { return declarations_; }

  // Index arithmetic, folded where it is literal. It never overflows: the verifier keeps index
  // expressions far below 2^63.
  Value add(const Value& a, const Value& b) {
    const auto x = literal(a), y = literal(b);
    if (x && y) return fmt::format("{}", *x + *y);
    if (x == 0) return b;
    if (y == 0) return a;
    return let("add nsw i64 {}, {}", a, b);
  }
  Value sub(const Value& a, const Value& b) {
    const auto x = literal(a), y = literal(b);
    if (x && y) return fmt::format("{}", *x - *y);
    if (y == 0) return a;
    return let("sub nsw i64 {}, {}", a, b);
  }
  Value scaled(const Value& a, int64_t factor) {
    const auto x = literal(a);
    if (x) return fmt::format("{}", *x * factor);
    if (factor == 1) return a;
    return let("mul nsw i64 {}, {}", a, factor);
  }
  Value minimum(const Value& a, const Value& b) { return extreme("smin", a, b); }
  Value maximum(const Value& a, const Value& b) { return extreme("smax", a, b); }

  /// Runs `body(i)` for lo <= i < hi. `hint`: metadata for the loop, or empty.
  template <class Body>
  void loop(const Value& lo, const Value& hi, const std::string& hint, Body body) {
    const auto x = literal(lo), y = literal(hi);
    if (x && y && *x >= *y) return;
    if (x && y && *x + 1 == *y) return body(lo);
    const std::string before = block_, head = fresh("h"), inside = fresh("b"), latch = fresh("l"),
                      after = fresh("x");
    const Value i = fresh("%i"), next = fresh("%n");
    jump(head);
    begin(head);
    line("{} = phi i64 [ {}, %{} ], [ {}, %{} ]", i, lo, before, next, latch);
    const Value more = let("icmp slt i64 {}, {}", i, hi);
    line("br i1 {}, label %{}, label %{}", more, inside, after);
    begin(inside);
    body(i);
    jump(latch);
    begin(latch);
    line("{} = add nsw i64 {}, 1", next, i);
    line("br label %{}{}{}", head, hint.empty() ? "" : ", !llvm.loop ", hint);
    begin(after);
  }

  /// Runs `body` where the condition holds.
  template <class Body>
  void when(const Value& condition, Body body) {
    const std::string inside = fresh("t"), after = fresh("e");
    line("br i1 {}, label %{}, label %{}", condition, inside, after);
    begin(inside);
    body();
    jump(after);
    begin(after);
  }
  template <class Then, class Else>
  void when(const Value& condition, Then then, Else otherwise) {
    const std::string yes = fresh("t"), no = fresh("f"), after = fresh("e");
    line("br i1 {}, label %{}, label %{}", condition, yes, no);
    begin(yes);
    then();
    jump(after);
    begin(no);
    otherwise();
    jump(after);
    begin(after);
  }

  const std::string& rooms() const { return rooms_; }
  const std::string& body() const { return body_; }

 private:
  Value extreme(const char* which, const Value& a, const Value& b) {
    const auto x = literal(a), y = literal(b);
    if (x && y) return fmt::format("{}", which[2] == 'i' ? std::min(*x, *y) : std::max(*x, *y));
    declare(fmt::format("declare i64 @llvm.{}.i64(i64, i64)", which));
    return let("call i64 @llvm.{}.i64(i64 {}, i64 {})", which, a, b);
  }

  std::string body_ = {}, rooms_ = {}, block_ = "entry";
  std::set<std::string> declarations_ = {};
  int64_t next_ = 0;
};

}  // namespace solar::exec::native
