// configs/schema.json, made from the tables that drive the parser.
#pragma once

#include <string>

namespace chexbench::spec {

// A JSON schema (draft 2020-12) of experiment files, for editors: keys, types, words, ranges, defaults, descriptions,
// ops and their parameters. Ends with a newline. A test holds configs/schema.json against it.
std::string schema_text();

}  // namespace chexbench::spec
