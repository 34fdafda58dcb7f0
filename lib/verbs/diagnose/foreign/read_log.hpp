// Reads the step log that any of the known programs wrote. The content says which; names of files do not matter.
#pragma once

#include <string>

#include "verbs/diagnose/foreign/byte_reader.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs {

// Reads what `reader` gives: CSV of step_log.hpp, a final_summary.json of TraceML, a trace of torch.profiler, a
// timeline of Horovod, or the output of DLIO. JSON of any length takes the memory of its steps alone.
// @throws DataError naming the file, the place and what to do
StepLog read_step_log(foreign::ByteReader& reader);

// Reads a file, which may be compressed by GZIP, or a pipe to its end.
// @throws DataError
StepLog read_step_log(const std::string& path);

}  // namespace chexbench::verbs
