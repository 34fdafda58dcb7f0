// The verbs `chexbench selftest engine | preprocess | interleave --golden FILE`: compare the results of this machine
// with golden values.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb `selftest` and its subverbs to `app`. Their callbacks throw chexbench's typed errors; ComparisonError
// if a result differs.
void add_selftest_commands(CLI::App& app);

}  // namespace chexbench::app
