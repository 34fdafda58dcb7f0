// The verbs `chexbench data index | check | synth | convert | stage`.
#pragma once

namespace CLI {
class App;
}

namespace chexbench::app {

// Adds the verb `data` and its subverbs to `app`. Their callbacks do the work, print results to stdout and throw
// chexbench's typed errors.
void add_data_commands(CLI::App& app);

}  // namespace chexbench::app
