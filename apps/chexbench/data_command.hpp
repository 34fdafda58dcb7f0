// chexbench data index | check | synth | convert
#pragma once

namespace CLI {
class App;
}

namespace chexbench::app {

// Adds the verb `data` and its verbs. Their callbacks do the work, print results to stdout and throw typed errors.
void add_data_commands(CLI::App& app);

}  // namespace chexbench::app
