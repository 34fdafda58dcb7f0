// Reads CSV (RFC 4180). It shares no code with the writer, so that the writer is not tested with itself.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace chexbench::report {

// Returns the rows of the text, each with its fields.
// @throws std::invalid_argument if the text is not RFC 4180 (with LF)
inline std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
        if (i + 1 < text.size() && text[i + 1] != ',' && text[i + 1] != '\n')
          throw std::invalid_argument("after quote");
      }
    } else if (c == '"') {
      if (!field.empty()) throw std::invalid_argument("quote within a plain field");
      quoted = true;
    } else if (c == ',' || c == '\n') {
      row.push_back(field);
      field.clear();
      if (c == '\n') {
        rows.push_back(row);
        row.clear();
      }
    } else {
      field += c;
    }
  }
  if (quoted || !field.empty() || !row.empty()) throw std::invalid_argument("text ends within a row");
  return rows;
}

// Returns a map from column to field for each row below the header.
inline std::vector<std::map<std::string, std::string>> read_csv_records(const std::string& text) {
  const auto rows = read_csv(text);
  std::vector<std::map<std::string, std::string>> records;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].size() != rows[0].size()) throw std::invalid_argument("row of another length than the header");
    auto& record = records.emplace_back();
    for (std::size_t column = 0; column < rows[0].size(); ++column) record[rows[0][column]] = rows[i][column];
  }
  return records;
}

}  // namespace chexbench::report
