#pragma once
// From the key-value pairs of architecture files to a Machine. The list of keys stands in
// schema.cpp.

#include <optional>
#include <vector>

#include "arch/document.h"
#include "arch/machine.h"
#include "base/diagnostic.h"

namespace solar::arch {

/// Builds the machine of documents[0], whose missing values come from the documents after it.
/// Appends every problem to `diagnostics`; the value is meaningful only if none of them is an
/// error.
Machine build_machine(const std::vector<Document>& documents, Diagnostics& diagnostics);

}  // namespace solar::arch
