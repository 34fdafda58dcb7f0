// chexbench selftest engine|preprocess|interleave --golden FILE: holds this machine against golden values.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_selftest_commands(CLI::App& app);

}  // namespace chexbench::app
