// Asks a program of the system that may be missing, fail or hang.
#pragma once

#include <string>
#include <vector>

namespace chexbench::measure {

// What became of it.
struct ToolAnswer {
  bool is_missing = false;  // no such program is on PATH
  std::string output;       // of stdout and stderr together, at most 64 KiB; empty if there is a problem
  std::string problem;      // a clause such as "lfs does not answer within 5 s"; empty if it ended with 0
};

// Runs `command`, whose first word is looked for on PATH, without a shell and without input. What has not ended after
// `patience_s` is killed together with the processes that it started in its group. Thread-safe.
ToolAnswer ask_tool(const std::vector<std::string>& command, double patience_s);

}  // namespace chexbench::measure
