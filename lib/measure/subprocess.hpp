// Runs a system program that may be missing, fail or hang.
#pragma once

#include <string>
#include <vector>

namespace chexbench::measure {

// Its outcome.
struct ToolAnswer {
  bool is_missing = false;  // no such program is on PATH
  std::string output;       // of stdout and stderr together, at most 64 KiB; empty if there is a problem
  std::string problem;      // a clause such as "lfs does not answer within 5 s"; empty if it ended with 0
};

// Runs `command`, whose first word is looked up on PATH, without a shell and without input. If it has not ended after
// `patience_s`, its process group is killed. Thread-safe.
ToolAnswer ask_tool(const std::vector<std::string>& command, double patience_s);

}  // namespace chexbench::measure
