// What a reader of a trial's figures has to know of them, in a word each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// A word beside a trial's figures, what it means, and which trials get it.
struct Flag {
  const char* word;
  const char* meaning;
  std::function<bool(const TrialResult&, const Figures&)> applies;
};

// All there are, "(emulated)" first. Immutable.
const std::vector<Flag>& flags();

// The words that apply, in the order of flags().
std::vector<std::string> flags_of(const TrialResult& trial, const Figures& figures);

}  // namespace chexbench::report
