#pragma once
// Typed access to the merged keys of architecture files; remembers which keys exist so that others
// can be refused.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/document.h"
#include "arch/quantity.h"
#include "base/diagnostic.h"

namespace solar::arch {

/// Every get names a key of the schema. A value of the wrong form or unit is reported and reads as
/// absent.
class Reader {
 public:
  Reader(const std::vector<Document>& documents, Diagnostics& diagnostics)
      : documents_(documents), diagnostics_(diagnostics) {}

  /// Where a key's value comes from: the document's index (0 is the named file) and the value.
  struct Found {
    size_t document = 0;
    const TomlLeaf* leaf = nullptr;
  };
  std::optional<Found> find(std::string_view key);

  std::optional<std::string> text(std::string_view key);
  std::optional<int64_t> positive_integer(std::string_view key);
  std::optional<double> positive_number(std::string_view key);
  std::optional<double> quantity(std::string_view key, Dimension dimension);
  /// With `none` the text `none` stands for no bytes.
  std::optional<int64_t> bytes(std::string_view key, bool none = false);
  /// A string or a list of strings.
  std::vector<TomlString> strings(std::string_view key);

  /// Reports that a required key is absent (and says how to write it).
  void missing(std::string_view key, std::string_view example);
  /// Reports a wrong value.
  void wrong(const TomlLeaf& leaf, DiagnosticKind kind, std::string message, std::string hint);
  void add(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }

  /// Reports every key that no get has named.
  void refuse_unknown_keys();

 private:
  /// The value if it is a string; a bare number is told that it lacks a unit.
  const TomlLeaf* unit_text(std::string_view key, Dimension dimension);
  /// A hint that lists the keys of the table in which `key` stands.
  std::string keys_beside(std::string_view key) const;

  const std::vector<Document>& documents_;
  Diagnostics& diagnostics_;
  std::vector<std::string> known_;
};

}  // namespace solar::arch
