// The folder that a command writes its results into if none was asked for.
#pragma once

#include <string>

namespace chexbench::app {

// Returns results/NAME/TIME for a time as measure::utc_now() gives it, without the colons that other systems' file
// names, and rsync's and scp's arguments, cannot hold.
std::string default_results_folder(const std::string& name, std::string date_utc);

}  // namespace chexbench::app
