// A command's default folder for results.
#pragma once

#include <string>

namespace chexbench::app {

// Makes results/NAME/TIME for a time of measure::utc_now(), without colons, which are not allowed in other systems'
// file names and in arguments of rsync and scp, and returns it; or TIME-2 and so on, if others began in that second.
// @throws OutputError if it cannot be made
std::string make_results_folder(const std::string& name, std::string date_utc);

}  // namespace chexbench::app
