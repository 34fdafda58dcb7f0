// URLs, as far as stores need them (RFC 3986).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace chexbench::storage {

// scheme://authority/path
struct Url {
  std::string scheme;     // lower case
  std::string authority;  // host, and :port where one is given
  std::string path;       // begins with '/', or is empty; no '/' at the end
};

// Nothing where `text` has no scheme: a plain path.
// @throws DataError, which names the text as `what` and does not repeat it, for a user, a query or a fragment in it:
// they may be secrets, and what a spec says stands in every report
std::optional<Url> parse_url(std::string_view text, std::string_view what = "data.root");

// Of a root that is an URL: a server takes two slashes for something else than one.
std::string without_last_slash(std::string root);

// @throws DataError where `root` is an URL: `verb` writes files, which goes into a folder of this machine alone
void check_is_folder(std::string_view root, std::string_view verb);

// All but letters, digits and -._~ as %XX; '/' stays.
std::string percent_encoded(std::string_view text);
// The same with '/' encoded as well, as in a query.
std::string percent_encoded_all(std::string_view text);
std::string percent_decoded(std::string_view text);

}  // namespace chexbench::storage
