// Formats the result as DLIO's summary.json, the input of MLPerf Storage's reports and DLIO's tools.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Returns the one finished trial (swept_keys.hpp) with an emulated accelerator as the summary.json of DLIO 2.0.0:
// an epoch there is a repeat that counts here. See apps/chexbench/reference/README.md for the meaning of each member.
// @throws DataError if there is no such trial, or more than one; the message names them
std::string dlio_summary_json(const results::Report& report);

}  // namespace chexbench::report
