// Flags: single words next to a trial's figures that warn readers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// A flag: its word, its meaning for the notes below a table, and which trials get it.
struct Flag {
  const char* word;
  const char* meaning;
  std::function<bool(const results::TrialResult&, const results::Figures&)> applies;
};

// Returns all flags, "(emulated)" first. The list is immutable and valid until the program ends.
const std::vector<Flag>& flags();

// Returns the words that apply to a trial, in the order of flags().
std::vector<std::string> flags_of(const results::TrialResult& trial, const results::Figures& figures);

}  // namespace chexbench::analysis
