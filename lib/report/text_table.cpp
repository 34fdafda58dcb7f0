#include "report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.hpp"

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

std::string times(double ratio) { return fmt::format("{:.2f} x", ratio); }

std::string interval_text(const std::optional<measure::Ratio>& ratio) {
  return ratio && ratio->ci95 ? fmt::format("{:.2f} .. {:.2f}", ratio->ci95->low, ratio->ci95->high) : "";
}

}  // namespace chexbench::report
