#include "report/fitted_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

namespace chexbench::report {
namespace {

constexpr std::size_t kShortestCell = 8;
constexpr std::string_view kCut = "...";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t width_of(const TextTable& table) {
  std::size_t widest = 0;
  for (const std::string& line : lines_of(render(table))) widest = std::max(widest, line.size());
  return widest;
}

// A column without text is not shown.
void empty_column(TextTable& table, std::size_t column) {
  for (auto& row : table.rows) row[column].clear();
}

bool has_text(const TextTable& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const auto& row) { return !row[column].empty(); });
}

// Returns the table with the text of its last column in a line of its own under each row.
std::string render_last_below(TextTable table) {
  std::vector<std::string> below;
  for (auto& row : table.rows) below.push_back(std::exchange(row.back(), ""));
  const std::vector<std::string> lines = lines_of(render(table));
  std::string text = lines.front() + '\n';
  for (std::size_t row = 0; row < below.size(); ++row) {
    text += lines[row + 1] + '\n';
    if (!below[row].empty()) text += "  " + shown_line(below[row]);
  }
  return text;
}

// Shortens the longest cell that stands left until the table fits. The end of a name or path says more than its begin.
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
      if (row[column].size() > keep)
        row[column] = fmt::format("{}{}", kCut, row[column].substr(row[column].size() - (keep - kCut.size())));
    }
  }
}

}  // namespace

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
  FittedTable fitted;
  if (!width) return {.text = render(table), .left_out = {}};
  for (const std::size_t column : table.expendable) {
    if (width_of(table) <= *width) break;
    if (!has_text(table, column)) continue;
    fitted.left_out.push_back(table.header[column]);
    empty_column(table, column);
  }
  if (width_of(table) > *width && table.last_left) {
    TextTable without_last = table;
    empty_column(without_last, table.header.size() - 1);
    shorten_left_cells(without_last, *width);
    for (std::size_t row = 0; row < table.rows.size(); ++row) without_last.rows[row].back() = table.rows[row].back();
    fitted.text = render_last_below(std::move(without_last));
    return fitted;
  }
  shorten_left_cells(table, *width);
  fitted.text = render(table);
  return fitted;
}

std::string wrapped(const std::string& line, const LineWidth& width, std::size_t indent) {
  if (!width || line.size() <= *width) return line;
  std::string text, word;
  std::size_t used = 0;
  std::istringstream words(line);
  while (words >> word) {
    if (used > 0 && used + 1 + word.size() > *width) {
      text += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (used > 0) {
      text += ' ';
      ++used;
    } else {
      const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
      text += std::string(blanks, ' ');
      used = blanks;
    }
    text += word;
    used += word.size();
  }
  return text;
}

}  // namespace chexbench::report
