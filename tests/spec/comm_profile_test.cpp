#include "spec/comm_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "core/errors.hpp"
#include "spec/shipped.hpp"

namespace chexbench::spec {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const SpecError& error) {
    return error.what();
  }
  return "no SpecError";
}

std::string profile_error(const std::string& text) {
  return error_of([&] { parse_comm_profile(text, "p.json"); });
}

std::string links_error(const CommSpec& comm) {
  return error_of([&] { check_links(comm); });
}

TEST(CommProfile, HasItsTermsAndTheirSources) {
  const CommProfile profile = parse_comm_profile(
      R"({"description": "d", "tensor_s": {"value": 0.5, "source": "a"}, "line_rate_share": {"value": 1, "source": "b"},
          "host_bytes_per_s": {"value": 7, "source": "c"}, "servers_on_hosts": {"value": true, "source": "e"}})",
      "p.json");
  EXPECT_EQ(profile.tensor_s, 0.5);
  EXPECT_EQ(profile.line_rate_share, 1);
  EXPECT_EQ(profile.host_bytes_per_s, 7);
  EXPECT_TRUE(profile.servers_on_hosts);
  EXPECT_EQ(profile.sources.at("host_bytes_per_s"), "c");
  EXPECT_EQ(profile.sources.size(), 4u);
}

TEST(CommProfile, WithABadTermNamesItsPlaceAndTheAllowedValue) {
  EXPECT_THAT(profile_error("{}"), HasSubstr("p.json: the key 'description' is missing"));
  EXPECT_THAT(profile_error(R"({"description": "d", "tensor": {}})"),
              AllOf(HasSubstr("'tensor'"), HasSubstr("'tensor_s'")));
  EXPECT_THAT(profile_error(R"({"description": "d", "tensor_s": {"value": 1e-4}})"),
              HasSubstr("p.json.tensor_s: the key 'source' is missing"));
  EXPECT_THAT(profile_error(R"({"description": "d", "tensor_s": 1e-4})"),
              HasSubstr("p.json.tensor_s must be an object"));
  EXPECT_THAT(profile_error(R"({"description": "d", "line_rate_share": {"value": 1.5, "source": "s"}})"),
              HasSubstr("p.json.line_rate_share.value"));
  EXPECT_THAT(profile_error(R"({"description": "d", "host_bytes_per_s": {"value": 0, "source": "s"}})"),
              HasSubstr("p.json.host_bytes_per_s.value"));
}

TEST(CommProfile, EveryBuiltInOneIsValidAndOnlyIdealAddsNothing) {
  for (const std::string& name : names_of(embedded_communication()))
    EXPECT_EQ(load_comm_profile(name).sources.empty(), name == "ideal") << name;
  EXPECT_THAT(error_of([] { load_comm_profile("horovod-ncll"); }), HasSubstr("did you mean 'horovod-nccl'?"));
  EXPECT_THROW(load_comm_profile("nowhere.json"), SpecError);
}

TEST(CommProfile, OfAFileIsReadOnlyWhereItIsApplied) {
  CommSpec comm;
  comm.profile = "gone/profile.json";
  EXPECT_NO_THROW(check_links(comm)) << "a report names it, and must stay readable";
}

TEST(Links, HaveDistinctNamesAndSourcesTheFastestFirst) {
  std::set<std::string_view> names;
  double before = 1e15;
  for (const NamedLink& link : links()) {
    EXPECT_TRUE(names.insert(link.name).second) << link.name;
    EXPECT_FALSE(link.source.empty()) << link.name;
    EXPECT_LE(link.beta_bytes_per_s, before) << link.name;
    before = link.beta_bytes_per_s;
  }
  EXPECT_THAT(error_of([] { find_link("10bge"); }), HasSubstr("did you mean '10gbe'?"));
}

TEST(Links, ThatContradictOtherKeysAreRefusedWithTheirNames) {
  CommSpec comm;
  comm.profile = "grpc-ps";
  EXPECT_THAT(links_error(comm), HasSubstr("comm.ranks_per_host"));
  comm.ranks_per_host = 8;
  EXPECT_NO_THROW(check_links(comm));
  comm.update = UpdateScheme::tree;
  EXPECT_THAT(links_error(comm), AllOf(HasSubstr("comm.update is tree"), HasSubstr("grpc-ps")));
  CommSpec two_levels;
  two_levels.host_link = "pcie3";
  EXPECT_THAT(links_error(two_levels), HasSubstr("comm.ranks_per_host"));
  two_levels.ranks_per_host = 4;
  EXPECT_NO_THROW(check_links(two_levels));
  two_levels.update = UpdateScheme::hierarchical;
  EXPECT_THAT(links_error(two_levels), AllOf(HasSubstr("comm.host_link is pcie3"), HasSubstr("hierarchical")));
  CommSpec twice;
  twice.link = "edr";
  EXPECT_NO_THROW(check_links(twice));
  twice.alpha_s = 1e-6;
  EXPECT_THAT(links_error(twice), AllOf(HasSubstr("comm.link is edr"), HasSubstr("comm.alpha_s")));
}

}  // namespace
}  // namespace chexbench::spec
