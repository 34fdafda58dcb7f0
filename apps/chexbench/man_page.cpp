#include "command_tree.hpp"

#include <fmt/format.h>

#include <map>

namespace chexbench::app {
namespace {

// Returns a text that roff shows literally: no line is a request, and dashes can be copied into a shell.
std::string roff(const std::string& text) {
  static const std::map<char, const char*> escapes{{'\\', "\\e"},   {'-', "\\-"},   {'`', "\\(ga"},
                                                   {'\'', "\\(aq"}, {'~', "\\(ti"}, {'^', "\\(ha"}};
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    begins_line = c == '\n';
    const auto escape = escapes.find(c);
    escape == escapes.end() ? result += c : result += escape->second;
  }
  return result;
}

// Returns one entry of a list: the names in bold, the value in italics, and the description.
std::string entry(const ArgumentInfo& argument) {
  std::string text = ".TP\n";
  for (std::size_t i = 0; i < argument.names.size(); ++i)
    text += fmt::format("{}\\fB{}\\fR", i == 0 ? "" : ", ", roff(argument.names[i]));
  const bool is_its_name = argument.names.front() == argument.value;
  if (!argument.value.empty() && !is_its_name) text += fmt::format(" \\fI{}\\fR", roff(argument.value));
  return text + "\n" + roff(argument.description) + "\n";
}

std::string entries(const CommandInfo& command) {
  std::string text;
  for (const ArgumentInfo& argument : command.arguments) text += entry(argument);
  for (const ArgumentInfo& option : command.options) text += entry(option);
  return text;
}

// Returns the usage line of a command: "chexbench report DIR [OPTION]...", with brackets around what may be left out.
std::string call(const CommandInfo& command) {
  std::string text = "chexbench" + (command.path.empty() ? "" : " " + command.path);
  for (const ArgumentInfo& argument : command.arguments) {
    const std::string word = argument.names.front() + (argument.repeated ? "..." : "");
    text += argument.required ? " " + word : fmt::format(" [{}]", word);
  }
  for (const ArgumentInfo& option : command.options)
    if (option.required) text += " " + option.names.front() + " " + option.value;
  return text + " [OPTION]...";
}

// Returns a text of several lines that keeps its lines.
std::string verbatim(const std::string& text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

}  // namespace

std::string man_page(const CommandInfo& root, const std::string& version) {
  std::string text = fmt::format(
      ".\\\" chexbench writes this page from its own options.\n.TH CHEXBENCH 1 \"\" \"chexbench {}\" \"User "
      "Commands\"\n.ad l\n.SH NAME\nchexbench \\- benchmark of the input pipelines of deep learning\n.SH "
      "SYNOPSIS\n.nf\n",
      roff(version));
  text += roff("chexbench DIR [OPTION]...\nchexbench --config SPEC [--set KEY=VALUE]... [OPTION]...") + "\n";
  for (const CommandInfo* command : all_commands(root))
    if (command->commands.empty()) text += roff(call(*command)) + "\n";
  text += ".fi\n.SH DESCRIPTION\n" + verbatim(root.description);
  text += ".SH OPTIONS\nThese are the options of a run.\n" + entries(root) + ".SH COMMANDS\n";
  for (const CommandInfo* command : all_commands(root)) {
    if (command == &root || !command->commands.empty()) continue;
    text += fmt::format(".SS {}\n{}\n{}", roff("chexbench " + command->path), roff(command->description),
                        entries(*command));
  }
  return text + ".SH NOTES\n" + verbatim(root.footer);
}

}  // namespace chexbench::app
