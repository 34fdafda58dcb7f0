// The folder that a command writes its results into if none was asked for.
#pragma once

#include <string>

namespace chexbench::app {

// Makes results/NAME/TIME for a time as measure::utc_now() gives it, without the colons that other systems' file names,
// and rsync's and scp's arguments, cannot hold, and returns it; or TIME-2 and so on, if others began in that second.
// @throws OutputError if it cannot be made
std::string make_results_folder(const std::string& name, std::string date_utc);

}  // namespace chexbench::app
