// Lists the experiments, pipelines and profiles of configs/ that are built into the binary.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chexbench::spec {

struct ShippedFile {
  std::string name;         // as used in a spec or with --config
  std::string description;  // one line: its content, or the question it answers
};

// Return what is built in, sorted by name. Thread-safe.
std::vector<ShippedFile> shipped_experiments();
std::vector<ShippedFile> shipped_pipelines();
std::vector<ShippedFile> shipped_accelerators();
std::vector<ShippedFile> shipped_communication();
std::vector<ShippedFile> known_links();  // in the order of links(), described by their bandwidth

// A file's name and contents, valid until the program ends.
struct EmbeddedFile {
  std::string_view name;  // without ".json"
  std::string_view text;
};

// Returns configs/accelerators/*.json, sorted by name.
std::span<const EmbeddedFile> embedded_accelerators();

// Returns configs/communication/*.json, sorted by name.
std::span<const EmbeddedFile> embedded_communication();

// Returns configs/experiments/*.json, sorted by name.
std::span<const EmbeddedFile> embedded_experiments();

// Returns configs/pipelines/*.json, sorted by name.
std::span<const EmbeddedFile> embedded_pipelines();

// Returns the names of the files.
std::vector<std::string> names_of(std::span<const EmbeddedFile> files);

struct NamedText {
  std::string text;
  std::string where;  // names the text in errors
};

// Whether a name is the path of a file, not that of an embedded one: it contains a '/' or ends in ".json".
bool is_path_of_file(const std::string& name_or_path);

// Returns the embedded file of that name, or the file of that path. `folder` is where the embedded ones are in the
// sources, and `kind` says in errors what the file is.
// @throws SpecError if the name is unknown (with the nearest one), or if the file cannot be read
NamedText read_shipped(const std::string& name_or_path, std::span<const EmbeddedFile> files, std::string_view folder,
                       std::string_view kind);

}  // namespace chexbench::spec
