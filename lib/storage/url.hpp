// Parses and encodes URLs (RFC 3986) to the extent that stores need.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace chexbench::storage {

// The parts of scheme://authority/path.
struct Url {
  std::string scheme;     // lower case
  std::string authority;  // host, and :port if one is given
  std::string path;       // begins with '/', or is empty; no '/' at the end
};

// Returns the parts of `text`, or std::nullopt if it has no scheme, and is thus a plain path.
// @throws DataError if the URL has a user, a query, a fragment or a port that is not a number: those may be secrets,
// and every report repeats the spec. The message calls the text `what` without repeating it.
std::optional<Url> parse_url(std::string_view text, std::string_view what = "data.root");

// Returns `root` without the slashes at its end if it is a URL, because servers distinguish two slashes from one.
// Returns a plain path unchanged.
std::string without_last_slash(std::string root);

// Checks that a command which writes files got a plain path, because all other stores are read-only. `verb` names the
// command in the message.
// @throws DataError if `root` is a URL
void check_is_folder(std::string_view root, std::string_view verb);

// Returns the text with every byte except letters, digits, '/' and -._~ as %XX.
std::string percent_encoded(std::string_view text);
// Does the same, and also encodes '/', for queries.
std::string percent_encoded_all(std::string_view text);
// Returns the text with each %XX decoded. Any other '%' stays.
std::string percent_decoded(std::string_view text);

}  // namespace chexbench::storage
