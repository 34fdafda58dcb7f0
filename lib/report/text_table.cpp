#include "report/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/printable.hpp"
#include "core/text.hpp"

namespace chexbench::report {
namespace {

std::size_t widest_cell(const TextTable& table, std::size_t column) {
  std::size_t width = 0;
  for (const auto& row : table.rows) width = std::max(width, row[column].size());
  return width;
}

// Returns the table with its cells made safe for a terminal.
TextTable printable_cells(TextTable table) {
  const auto show = [](std::vector<std::string>& cells) {
    for (std::string& cell : cells) cell = printable(cell, cell.max_size());
  };
  show(table.header);
  for (auto& row : table.rows) show(row);
  return table;
}

constexpr std::size_t kShortestCell = 8;
constexpr std::size_t kFewLeftOut = 2;  // columns; before more are left out, the last column moves below its row
constexpr std::size_t kSentenceIndent = 3;
constexpr std::string_view kCut = "...";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns whether the text ends inside a command between backticks.
bool ends_in_command(std::string_view text) { return std::ranges::count(text, '`') % 2 != 0; }

// Returns the words of a line. A percent sign stays with its number, and a command between backticks is one word, so
// that it can be copied.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  const bool all_closed = !ends_in_command(line);
  for (std::string word; stream >> word;) {
    if (!words.empty() && (word.starts_with('%') || (all_closed && ends_in_command(words.back())))) {
      words.back() += ' ' + word;
    } else {
      words.push_back(word);
    }
  }
  return words;
}

std::size_t width_of(const TextTable& table) {
  std::size_t widest = 0;
  for (const std::string& line : lines_of(render(table))) widest = std::max(widest, line.size());
  return widest;
}

// Columns without text are not shown.
void empty_column(TextTable& table, std::size_t column) {
  for (auto& row : table.rows) row[column].clear();
}

bool has_text(const TextTable& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const auto& row) { return !row[column].empty(); });
}

// Leaves expendable columns out until the table fits, and returns their headers.
std::vector<std::string> leave_out_columns(TextTable& table, std::size_t width) {
  std::vector<std::string> left_out;
  for (const std::size_t column : table.expendable) {
    if (width_of(table) <= width) break;
    if (!has_text(table, column)) continue;
    left_out.push_back(table.header[column]);
    empty_column(table, column);
  }
  return left_out;
}

// Returns the table with a line below each row, unless that is empty.
std::string render_with_lines_below(const TextTable& table, const std::vector<std::string>& below) {
  const std::vector<std::string> lines = lines_of(render(table));
  std::string text = lines.front() + '\n';
  for (std::size_t row = 0; row < below.size(); ++row) {
    text += lines[row + 1] + '\n';
    if (!below[row].empty()) text += "  " + shown_line(below[row]);
  }
  return text;
}

// Returns about the last `bytes` of the text, starting with a complete UTF-8 character.
std::string end_of(const std::string& text, std::size_t bytes) {
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  std::size_t begin = text.size() - std::min(bytes, text.size());
  while (begin < text.size() && is_inside(text[begin])) ++begin;
  return text.substr(begin);
}

// Shortens the longest left-aligned cell until the table fits. The end of a name or path is more specific than its
// start.
void shorten_left_cells(TextTable& table, std::size_t width) {
  for (std::size_t wide = width_of(table); wide > width; wide = width_of(table)) {
    std::size_t column = 0, longest = 0;
    for (std::size_t i = 0; i < table.left_columns; ++i) {
      for (const auto& row : table.rows) {
        if (row[i].size() > longest) column = i, longest = row[i].size();
      }
    }
    const std::size_t least = std::max(kShortestCell, table.header.empty() ? 0 : table.header[column].size());
    if (longest <= least) return;
    const std::size_t keep = std::max(least, longest - std::min(longest, wide - width));
    for (auto& row : table.rows) {
      if (row[column].size() > keep) row[column] = fmt::format("{}{}", kCut, end_of(row[column], keep - kCut.size()));
    }
  }
}

// Returns whether the line is a command, or ends in one after a colon or a gap.
bool holds_command(const std::string& line) {
  for (const std::string_view program : {"chexbench ", "mpirun "}) {
    const std::size_t at = line.find(program);
    if (at == 0) return true;
    if (at != std::string::npos && at >= 2 && (line.substr(at - 2, 2) == "  " || line.substr(at - 2, 2) == ": "))
      return true;
  }
  return false;
}

// A break inside a JSON text, as in a printed spec, would be copied with it into a file.
bool is_json(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin != std::string::npos && std::string_view("\"{[").find(line[begin]) != std::string_view::npos;
}

// Breaks a command before options, with backslashes, so that it can still be copied. One with a backslash stays whole.
std::string broken_command(std::string line, std::size_t width) {
  constexpr std::string_view kBreak = " \\\n     ";
  if (line.find('\\') != std::string::npos) return line;
  for (std::size_t begin = 0; line.size() - begin > width;) {
    std::size_t last = std::string::npos;
    const std::size_t end = std::min(begin + width - 1, line.find("  #", begin));  // the latter begins a comment
    for (std::size_t at = begin + kBreak.size(); at < end; ++at) {
      const bool is_quoted = std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), '\'') % 2 != 0;
      if (!is_quoted && line.compare(at, 3, " --") == 0) last = at;
    }
    if (last == std::string::npos) return line;
    line.replace(last, 1, kBreak);
    begin = last + kBreak.find('\n') + 1;
  }
  return line;
}

// Returns the line, broken if it is too long and a sentence, or a row that ends in one.
std::string fitted_line(const std::string& line, std::size_t width) {
  if (line.size() <= width || is_json(line)) return line;
  if (holds_command(line)) return broken_command(line, width);
  const std::size_t gap = line.rfind("  ");
  if (gap == std::string::npos) return wrapped(line, width, kSentenceIndent);
  const std::size_t begin = gap + 2;
  if (begin > width - width / 3) return line;  // a row of numbers
  std::string rest = wrapped(line.substr(begin), width - begin, 0), indented;
  for (const char c : rest) indented += c == '\n' ? '\n' + std::string(begin, ' ') : std::string(1, c);
  return line.substr(0, begin) + indented;
}

}  // namespace

std::vector<std::size_t> shown_columns(const TextTable& table) {
  std::vector<std::size_t> shown;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    if (widest_cell(table, column) > 0) shown.push_back(column);
  }
  return shown;
}

bool stands_left(const TextTable& table, std::size_t column) {
  return column < table.left_columns || (table.last_left && column + 1 == table.header.size());
}

std::string shown_line(const std::string& sentence) { return printable(sentence, sentence.max_size()) + '\n'; }

std::string render(const TextTable& raw) {
  const TextTable table = printable_cells(raw);
  const std::vector<std::size_t> shown = shown_columns(table);
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    widths.push_back(std::max(widest_cell(table, column), table.header[column].size()));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (const std::size_t column : shown) {
      const char* format = stands_left(table, column) ? "{:<{}}  " : "{:>{}}  ";
      text += fmt::format(fmt::runtime(format), cells[column], widths[column]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
  };
  std::string text = line(table.header);
  for (const auto& row : table.rows) text += line(row);
  return text;
}

std::string gigabytes(std::uint64_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string decimal(double value) { return value < 0.9995 ? fmt::format("{:.3f}", value) : rate_text(value); }

std::string times(double ratio) { return fmt::format("{:.2f} x", ratio); }

std::string interval_text(const std::optional<measure::Ratio>& ratio) {
  return ratio && ratio->ci95 ? fmt::format("{:.2f} to {:.2f}", ratio->ci95->low, ratio->ci95->high) : "";
}

std::vector<std::string> take_shared_columns(TextTable& table) {
  std::vector<std::string> shared;
  if (table.rows.size() < 2) return shared;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    const std::string value = table.rows.front()[column];
    const auto same = [&](const auto& row) { return row[column] == value; };
    const bool may_go = std::ranges::find(table.expendable, column) != table.expendable.end();
    if (!may_go || value.empty() || !std::ranges::all_of(table.rows, same)) continue;
    shared.push_back(fmt::format("{} {}", table.header[column], value));
    empty_column(table, column);
  }
  return shared;
}

FittedTable fit(TextTable table, const LineWidth& width) {
  if (!width) return {.text = render(table), .left_out = {}};
  TextTable narrow = table;
  FittedTable fitted{.text = "", .left_out = leave_out_columns(narrow, *width)};
  const bool has_room = width_of(narrow) <= *width && fitted.left_out.size() <= kFewLeftOut;
  if (has_room || !table.last_left) {
    shorten_left_cells(narrow, *width);
    fitted.text = render(narrow);
    return fitted;
  }
  std::vector<std::string> last;
  for (auto& row : table.rows) last.push_back(std::exchange(row.back(), ""));
  fitted.left_out = leave_out_columns(table, *width);
  shorten_left_cells(table, *width);
  fitted.text = render_with_lines_below(table, last);
  return fitted;
}

std::string fitted_text(const TextTable& table, const LineWidth& width, std::string_view whole_in) {
  const FittedTable fitted = fit(table, width);
  if (fitted.left_out.empty()) return fitted.text;
  const std::string told =
      fmt::format("No room for {}: {} has all columns.", fmt::join(fitted.left_out, ", "), whole_in);
  return fitted.text + wrapped(told, width, kSentenceIndent) + '\n';
}

std::string wrapped(const std::string& line, const LineWidth& width, std::size_t indent) {
  if (!width || line.size() <= *width) return line;
  std::string text(std::min(line.find_first_not_of(' '), line.size()), ' ');
  std::size_t used = text.size();
  for (const std::string& word : words_of(line)) {
    const bool begins = used == 0 || text.back() == ' ';
    if (!begins && used + 1 + word.size() > *width) {
      text += '\n' + std::string(indent, ' ') + word;
      used = indent + word.size();
    } else {
      text += (begins ? "" : " ") + word;
      used += word.size() + (begins ? 0 : 1);
    }
  }
  return text;
}

std::string fitted_lines(const std::string& text, const LineWidth& width) {
  if (!width) return text;
  std::string fitted;
  for (const std::string& line : lines_of(text)) fitted += fitted_line(line, *width) + '\n';
  if (!text.ends_with('\n') && !fitted.empty()) fitted.pop_back();
  return fitted;
}

}  // namespace chexbench::report
