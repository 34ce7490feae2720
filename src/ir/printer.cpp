#include "ir/printer.h"

#include <fmt/format.h>

#include <optional>

#include "ir/printer_text.h"

namespace solar::ir {
namespace {

constexpr size_t kWidth = 100;

class Printer {
 public:
  std::string out;

  void file(const ast::File& file) {
    bool first = true;
    for (const ast::Function& f : file.functions) {
      if (!first) out += "\n";
      first = false;
      function(f);
    }
    if (file.program) {
      if (!first) out += "\n";
      program(*file.program);
    }
    comments(file.trailing_comments, 0);
  }

  void function(const ast::Function& f) {
    comments(f.comments, 0);
    std::vector<std::string> generics;
    for (const ast::Generic& g : f.generics) {
      generics.push_back((g.kind == ast::Generic::Kind::Pack   ? "*"
                          : g.kind == ast::Generic::Kind::Type ? "type "
                                                               : "") +
                         name_text(g.name.text));
    }
    std::vector<std::string> parameters;
    for (const ast::Declaration& d : f.parameters) parameters.push_back(declaration_text(d));
    std::string head = "fn " + name_text(f.name.text);
    if (!generics.empty()) head += fmt::format("<{}>", fmt::join(generics, ", "));
    signature(head, parameters, f.results);
    block(f.block, 1);
    out += "}\n";
  }

 private:
  void line(int indent, std::string_view text) {
    out.append(static_cast<size_t>(indent) * 2, ' ');
    out += text;
    out += '\n';
  }

  void comments(const std::vector<std::string>& comments, int indent) {
    for (const std::string& comment : comments) line(indent, comment);
  }

  /// Items after `head`, broken at kWidth with two more levels of indentation.
  void wrapped(int indent, const std::string& head, const std::vector<std::string>& items,
               const std::string& tail) {
    std::string current = std::string(static_cast<size_t>(indent) * 2, ' ') + head;
    bool start = true;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string piece = items[i] + (i + 1 < items.size() ? "," : tail);
      if (!start && current.size() + 1 + piece.size() > kWidth) {
        out += current + "\n";
        current = std::string(static_cast<size_t>(indent) * 2 + 4, ' ') + piece;
      } else {
        if (!current.empty() && current.back() != ' ' && current.back() != '(') current += ' ';
        current += piece;
      }
      start = false;
    }
    if (items.empty()) current += tail;
    out += current + "\n";
  }

  void signature(const std::string& head, const std::vector<std::string>& items,
                 const std::vector<ast::Name>& results) {
    const std::string tail = fmt::format(") -> ({}) {{", names_text(results));
    const std::string one = fmt::format("{}({}{}", head, fmt::join(items, ", "), tail);
    if (one.size() <= kWidth) return line(0, one);
    line(0, head + "(");
    for (size_t i = 0; i < items.size(); ++i) line(2, items[i] + (i + 1 < items.size() ? "," : ""));
    line(0, tail);
  }

  void program(const ast::Program& p) {
    comments(p.comments, 0);
    std::vector<std::string> ports;
    for (const ast::Port& port : p.ports) {
      std::string text = fmt::format("{} {}", name(port.role), declaration_text(port.declaration));
      if (port.role == Role::Const || !port.values.empty()) {
        std::vector<std::string> values;
        for (const ast::ExprPtr& value : port.values) values.push_back(to_text(*value));
        text += fmt::format(" = [{}]", fmt::join(values, ", "));
      }
      ports.push_back(std::move(text));
    }
    signature("program " + name_text(p.name.text), ports, p.outputs);
    block(p.block, 1);
    out += "}\n";
  }

  void block(const ast::Block& block, int indent) {
    for (const ast::Statement& statement : block.statements) {
      comments(statement.comments, indent);
      std::visit([&](const auto& body) { print(body, indent); }, statement.body);
    }
    comments(block.trailing_comments, indent);
  }

  void print(const ast::Dims& dims, int indent) {
    std::vector<std::string> items;
    for (const ast::Let& dim : dims.dims) {
      items.push_back(fmt::format("{} = {}", name_text(dim.name.text), to_text(*dim.value)));
    }
    wrapped(indent, "dims", items, "");
  }

  void print(const ast::Require& require, int indent) {
    line(indent, "require " + to_text(*require.condition));
  }

  void print(const ast::Op& op, int indent) {
    std::string head = fmt::format("op \"{}\"", op.name);
    if (op.at) head += fmt::format(" at \"{}\"", *op.at);
    if (op.module) head += fmt::format(" module \"{}\"", *op.module);
    if (op.nominal) head += " nominal " + to_text(*op.nominal);
    if (const auto body = short_body(op.block)) {
      const std::string one = fmt::format("{} {{ {} }}", head, *body);
      if (static_cast<size_t>(indent) * 2 + one.size() <= kWidth) return line(indent, one);
    }
    line(indent, head + " {");
    block(op.block, indent + 1);
    line(indent, "}");
  }

  /// The one statement of a block without comments, if it prints as one line.
  static std::optional<std::string> short_body(const ast::Block& body) {
    if (body.statements.size() != 1 || !body.trailing_comments.empty()) return std::nullopt;
    const ast::Statement& statement = body.statements.front();
    if (!statement.comments.empty() || std::holds_alternative<ast::Op>(statement.body))
      return std::nullopt;
    Printer printer;
    printer.block(body, 0);
    if (printer.out.find('\n') != printer.out.size() - 1) return std::nullopt;
    printer.out.pop_back();
    return std::move(printer.out);
  }

  void print(const ast::Kernel& kernel, int indent) {
    std::vector<std::string> outputs;
    for (const ast::Declaration& d : kernel.outputs) outputs.push_back(declaration_text(d));
    const std::string head = fmt::format("{} {} {{",
                                         kernel.scatter   ? "scatter"
                                         : kernel.indexed ? "indexed"
                                                          : "kernel",
                                         fmt::join(outputs, ", "));
    std::vector<std::string> loops;
    for (const ast::Loop& loop : kernel.loops) loops.push_back(loop_text(loop));
    std::vector<std::string> parts;
    for (const ast::Let& let : kernel.lets) {
      parts.push_back(fmt::format("let {} = {}", name_text(let.name.text), to_text(*let.value)));
    }
    if (!kernel.guards.empty()) {
      std::vector<std::string> guards;
      for (const ast::ExprPtr& guard : kernel.guards) guards.push_back(to_text(*guard));
      parts.push_back(fmt::format("where {}", fmt::join(guards, ", ")));
    }
    parts.push_back(assignment(kernel));
    if (kernel.init) parts.push_back("init " + to_text(*kernel.init));
    if (kernel.otherwise) parts.push_back("else " + to_text(*kernel.otherwise));
    if (!kernel.base.text.empty()) {
      parts.push_back(
          fmt::format("base {}{}", kernel.donated ? "donated " : "", name_text(kernel.base.text)));
    }
    if (kernel.unique) parts.emplace_back("unique");
    const std::string header = loops.empty() ? "" : fmt::format("for {}", fmt::join(loops, ", "));
    std::string one = head + " " + (header.empty() ? "" : header + "   ");
    one += fmt::format("{} }}", fmt::join(parts, "  "));
    if (static_cast<size_t>(indent) * 2 + one.size() <= kWidth) return line(indent, one);
    line(indent, head);
    if (!header.empty()) line(indent + 1, header);
    for (const std::string& part : parts) line(indent + 1, part);
    line(indent, "}");
  }

  static std::string assignment(const ast::Kernel& kernel) {
    std::vector<std::string> targets;
    for (const ast::Target& target : kernel.targets) {
      targets.push_back(name_text(target.tensor.text) + subscripts_text(target.subscripts));
    }
    std::vector<std::string> values;
    for (const ast::ExprPtr& value : kernel.values) values.push_back(to_text(*value));
    return fmt::format("{} {} {}", fmt::join(targets, ", "), kernel.assign,
                       fmt::join(values, ", "));
  }

  void print(const ast::View& view, int indent) {
    line(indent,
         fmt::format("view {} = {} {{ {} -> {} }}", name_text(view.output.text),
                     name_text(view.input.text), axes_text(view.left), axes_text(view.right)));
  }

  void print(const ast::Slice& slice, int indent) {
    std::vector<std::string> items;
    for (const ast::SliceItem& item : slice.items) items.push_back(item_text(item));
    line(indent, fmt::format("slice {} = {}[{}]", name_text(slice.output.text),
                             name_text(slice.input.text), fmt::join(items, ", ")));
  }

  void print(const ast::Call& call, int indent) {
    std::vector<std::string> items;
    for (const ast::Argument& argument : call.arguments) items.push_back(to_text(*argument.expr));
    std::string attributes;
    for (const ast::Attribute& a : call.attributes) {
      const bool type = a.value->kind == ast::ExprKind::Name && element_type_named(a.value->text);
      // Reserved words that stand here as they are: `limit`, and the functions below.
      attributes += fmt::format("{}{} = {}", attributes.empty() ? "" : ", ",
                                a.name.text == "limit" ? a.name.text : name_text(a.name.text),
                                type ? a.value->text : to_text(*a.value));
    }
    const std::string results = names_text(call.results);
    const bool word = call.function.text == "stack" || call.function.text == "unique";
    const std::string head = fmt::format("let {} = {}(", call.tuple ? "(" + results + ")" : results,
                                         word ? call.function.text : name_text(call.function.text));
    std::string tail = (attributes.empty() ? "" : "; " + attributes) + ")";
    if (call.module) tail += fmt::format(" module \"{}\"", *call.module);
    wrapped(indent, head, items, tail);
  }

  static std::vector<std::string> carried_items(const std::vector<ast::Initial>& carried) {
    std::vector<std::string> items;
    for (const ast::Initial& initial : carried) {
      items.push_back(
          fmt::format("{} = {}", name_text(initial.name.text), to_text(*initial.value)));
    }
    return items;
  }

  void print(const ast::Repeat& repeat, int indent) {
    std::string head = "let ";
    if (!repeat.results.empty()) head += tuple_text(repeat.results) + " ";
    if (!repeat.stacked.empty()) head += "stack " + tuple_text(repeat.stacked) + " ";
    head += fmt::format("= repeat {}{}:{} with (", repeat.descending ? "revseq " : "",
                        name_text(repeat.step.text), extent_text(*repeat.extent));
    wrapped(indent, head, carried_items(repeat.carried), ") {");
    block(repeat.block, indent + 1);
    line(indent, "}");
  }

  void print(const ast::While& loop, int indent) {
    const std::string head = fmt::format("let {} = while limit {} with (", tuple_text(loop.results),
                                         extent_text(*loop.limit));
    wrapped(indent, head, carried_items(loop.carried), ") {");
    block(loop.block, indent + 1);
    line(indent, "}");
  }

  void print(const ast::If& branches, int indent) {
    line(indent, fmt::format("let {} = if {} {{", tuple_text(branches.results),
                             name_text(branches.condition.text)));
    block(branches.taken, indent + 1);
    line(indent, "} else {");
    block(branches.otherwise, indent + 1);
    line(indent, "}");
  }

  void print(const ast::Next& next, int indent) {
    std::string text = "next";
    if (!next.values.empty() || next.stacked.empty()) text += " " + tuple_text(next.values);
    if (!next.stacked.empty()) text += " stack " + tuple_text(next.stacked);
    line(indent, text);
  }

  void print(const ast::Test& test, int indent) {
    line(indent, "test " + name_text(test.value.text));
  }

  void print(const ast::Opaque& opaque, int indent) {
    std::vector<std::string> outputs;
    for (const ast::Declaration& d : opaque.outputs) outputs.push_back(declaration_text(d));
    std::string results = fmt::format("{}", fmt::join(outputs, ", "));
    if (outputs.size() != 1) results = fmt::format("({})", results);
    std::string tail = ")";
    const auto cost = [&](const char* word, const ast::ExprPtr& value) {
      if (value) tail += fmt::format(" {} {}", word, to_text(*value));
    };
    cost("macs", opaque.macs);
    cost("nominal", opaque.nominal);
    cost("reads", opaque.reads);
    cost("writes", opaque.writes);
    std::vector<std::string> items;
    for (const ast::Name& input : opaque.inputs) items.push_back(name_text(input.text));
    wrapped(indent,
            fmt::format("{} {} = \"{}\"(", opaque.hole ? "hole" : "opaque", results, opaque.op),
            items, tail);
  }

  void print(const ast::Update& update, int indent) {
    line(indent,
         fmt::format("update {} = {}", name_text(update.state.text), name_text(update.value.text)));
  }
};

}  // namespace

std::string print(const ast::File& file) {
  Printer printer;
  printer.file(file);
  return std::move(printer.out);
}

std::string print(const ast::Function& function) {
  Printer printer;
  printer.function(function);
  return std::move(printer.out);
}

}  // namespace solar::ir
