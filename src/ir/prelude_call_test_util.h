#pragma once
// A program that calls one function of the prelude, once.

#include <functional>
#include <map>
#include <set>
#include <string>

#include "ir/ast.h"
#include "ir/types.h"

namespace solar::ir {

/// The value of a dim of a function.
using DimValues = std::function<int64_t(const std::string& function, const std::string& dim)>;

/// An extent of a parameter: a dim, or a product of dims and integers.
inline int64_t extent_value(const ast::Expr& expr, const std::map<std::string, int64_t>& dims) {
  if (expr.kind == ast::ExprKind::Integer) return expr.integer;
  if (expr.kind == ast::ExprKind::Name) return dims.at(expr.text);
  return extent_value(*expr.operands.at(0), dims) * extent_value(*expr.operands.at(1), dims);
}

/// A program that calls `f` once with every type parameter `type` and packs of `rank` axes.
inline std::string call_of(const ast::Function& f, const std::string& type, size_t rank,
                           const DimValues& dim_value) {
  std::set<std::string> types;
  std::set<std::string> inferred;
  std::map<std::string, int64_t> dims;
  for (const ast::Generic& g : f.generics) {
    if (g.kind == ast::Generic::Kind::Type) types.insert(g.name.text);
    if (g.kind == ast::Generic::Kind::Dim) dims[g.name.text] = dim_value(f.name.text, g.name.text);
  }
  std::string ports;
  std::string arguments;
  for (const ast::Declaration& d : f.parameters) {
    const std::string& written = d.type.element.name;
    std::string element = types.contains(written) ? type : written;
    if (types.contains(written) && written == "I") element = "i64";  // an index type
    if (d.type.element.wide) element = std::string(name(wide(*element_type_named(element))));
    arguments += arguments.empty() ? "" : ", ";
    if (d.type.extents.empty()) {
      arguments += element == "bool" ? "true" : "1";
      continue;
    }
    if (!d.type.element.wide) inferred.insert(written);
    std::string shape;
    for (const ast::ExprPtr& extent : d.type.extents) {
      if (extent->kind == ast::ExprKind::Pack) {
        for (size_t i = 0; i < rank; ++i)
          shape += (shape.empty() ? "" : ", ") + std::to_string(2 + i);
        continue;
      }
      if (extent->kind == ast::ExprKind::Name) inferred.insert(extent->text);
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent_value(*extent, dims));
    }
    ports +=
        (ports.empty() ? "" : ", ") + ("input " + d.name.text + ": ") + element + "[" + shape + "]";
    arguments += d.name.text;
  }
  std::string attributes;
  for (const ast::Generic& g : f.generics) {
    if (inferred.contains(g.name.text) || g.kind == ast::Generic::Kind::Pack) continue;
    attributes +=
        (attributes.empty() ? "; " : ", ") + g.name.text + " = " +
        (g.kind == ast::Generic::Kind::Type ? type : std::to_string(dims.at(g.name.text)));
  }
  std::string results;
  for (size_t i = 0; i < f.results.size(); ++i)
    results += (i == 0 ? "out" : ", out") + std::to_string(i);
  return "program p(" + ports + ") -> (" + results + ") {\n  let (" + results +
         ") = " + f.name.text + "(" + arguments + attributes + ")\n}\n";
}

}  // namespace solar::ir
