// Reads a step log of any known program, recognized by its content; file names do not matter.
#pragma once

#include <string>

#include "verbs/diagnose/foreign/streamed_json.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs {

// Reads a log from `reader`: CSV of step_log.hpp, a final_summary.json of TraceML, a trace of torch.profiler, a
// timeline of Horovod, or the output of DLIO. JSON of any length takes only the memory of its steps.
// @throws DataError with the file, the place and the remedy
StepLog read_step_log(foreign::ByteReader& reader);

// Reads a file, which may be compressed by GZIP, or a pipe to its end.
// @throws DataError
StepLog read_step_log(const std::string& path);

}  // namespace chexbench::verbs
