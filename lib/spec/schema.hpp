// Generates configs/schema.json from the tables that drive the parser.
#pragma once

#include <string>

namespace chexbench::spec {

// Returns a JSON schema (draft 2020-12) of experiment files, for editors, with a newline at the end. It contains the
// keys with their types, words, ranges, defaults and descriptions, and the ops with their parameters. A test checks
// that configs/schema.json matches.
std::string schema_text();

}  // namespace chexbench::spec
