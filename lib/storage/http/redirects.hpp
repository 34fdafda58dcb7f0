// Decides which redirects of a web server are followed.
#pragma once

#include <string>

#include "spec/trial_spec.hpp"

namespace chexbench::storage {

// Returns true if both URLs have the same scheme, host and port, so that anything that may be sent to one may be sent
// to the other. URLs are split by libcurl, which also sends the requests: another parser could see a different host in
// them.
bool have_same_origin(const std::string& a, const std::string& b);

// Returns the URL without its user and password, or "" if libcurl does not accept it. libcurl resolves a relative
// redirect to a URL that has the user and password of ~/.netrc.
std::string without_user(const std::string& url);

// Returns why a redirect must not be followed, or "" if it may. Never allowed are other schemes than http and https,
// from https to http, and to another origin with a user. Otherwise Redirects::same_host allows the same origin, and
// Redirects::any all. `from` must be an http:// or https:// URL. The text names the new host and nothing else of the
// URL, which may contain secrets.
std::string redirect_refusal(const std::string& from, const std::string& to, spec::Redirects allowed);

}  // namespace chexbench::storage
