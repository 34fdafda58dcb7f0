// Reading a spec's files whole.
#pragma once

#include <string>

namespace chexbench::spec {

// The text of `path`; `what` says in errors what it was to be, "experiment". A file beyond 16 MB is refused, a
// pipe is read to its end, and one that nobody writes to is empty.
// @throws SpecError with the path and the system's reason
std::string read_text_file(const std::string& path, const std::string& what);

}  // namespace chexbench::spec
