#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "bench/ranks.hpp"
#include "command_line.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "spec/trial_spec.hpp"
#include "verbs/comm/comm_result.hpp"
#include "verbs/comm/comm_sweep.hpp"

namespace chexbench::app {
namespace {

using verbs::CommMemory;

const std::map<std::string, FloatType> kTypes{
    {"f32", FloatType::f32}, {"fp16", FloatType::fp16}, {"f16", FloatType::fp16}};
const std::map<std::string, CommMemory> kMemories{
    {"auto", CommMemory::automatic}, {"host", CommMemory::host}, {"device", CommMemory::device}};

// Refuses an option of a scheme other than the chosen one, which would ignore it. @throws CLI::RequiresError
void require_scheme(const CLI::Option& option, spec::UpdateScheme its, spec::UpdateScheme asked) {
  require_choice(option, asked == its, "--update " + to_string(its));
}

std::string text_of(const verbs::CommResult& result, const std::string& format) {
  if (format == "json") return verbs::comm_json(result);
  return format == "csv" ? verbs::comm_csv(result) : verbs::comm_table(result, stdout_width());
}

void run(const verbs::CommOptions& options, const std::string& format, bench::Session& session) {
  const int rank = join_ranks(session);
  const verbs::CommResult result = in_agreement(session, [&] { return verbs::measure_comm(session.world(), options); });
  if (rank == 0) print(text_of(result, format), format);
}

}  // namespace

void add_comm_command(CLI::App& app, bench::Session& session) {
  const auto options = std::make_shared<verbs::CommOptions>();
  const auto format = std::make_shared<std::string>("table");
  CLI::App* const verb = app.add_subcommand("comm", "Times the averaging of gradients of each size, like nccl-tests.");
  verb->add_option("--min-bytes", options->min_bytes, "Start with this size; K, M and G are powers of 1024.")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("8");
  verb->add_option("--max-bytes", options->max_bytes, "Double the size up to this one.")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("128M");
  add_ranks_list(*verb, options->ranks, "Measure these numbers of ranks, e.g. 2,4 (default: 2, 4, 8, ... and all).");
  verb->add_option("--dtype", options->type, "Use gradients of this type; fp16 works only in GPU memory.")
      ->transform(CLI::CheckedTransformer(kTypes))
      ->option_text("TEXT:{f32,fp16}=f32");
  verb->add_option("--memory", options->memory,
                   "Keep the gradients in this memory; auto means on the GPUs if every rank has one, else on the host.")
      ->transform(CLI::CheckedTransformer(kMemories))
      ->option_text("TEXT:{auto,host,device}=auto");
  verb->add_option("--backend", options->comm.backend,
                   "Average gradients in GPU memory with this library; auto means NCCL if every rank has it, else MPI.")
      ->transform(CLI::CheckedTransformer(words_of<spec::CommBackend>()))
      ->option_text("TEXT:{auto,nccl,mpi}=auto");
  verb->add_option("--update", options->comm.update, "Average with this scheme.")
      ->transform(CLI::CheckedTransformer(words_of<spec::UpdateScheme>()))
      ->option_text("TEXT:{all_reduce,ring,tree,hierarchical,parameter_server}=all_reduce");
  CLI::Option* const servers = verb->add_option("--servers", options->comm.servers,
                                                "With --update parameter_server: let this many ranks be servers.")
                                   ->check(CLI::PositiveNumber)
                                   ->capture_default_str();
  CLI::Option* const ranks_per_group =
      verb->add_option("--ranks-per-group", options->comm.ranks_per_group,
                       "With --update hierarchical: use groups of this many ranks; 0 means the ranks of a host.")
          ->check(CLI::NonNegativeNumber)
          ->capture_default_str();
  add_shared_gpu_flag(*verb, options->allow_shared_gpu);
  add_in_range(*verb, "--repeats", options->repeats, 1, 1000,
               "Measure each size this many times; a confidence interval needs at least five.");
  add_format_option(*verb, *format, {"table", "json", "csv"});
  verb->callback([=, &session] {
    require_scheme(*servers, spec::UpdateScheme::parameter_server, options->comm.update);
    require_scheme(*ranks_per_group, spec::UpdateScheme::hierarchical, options->comm.update);
    run(*options, *format, session);
  });
}

}  // namespace chexbench::app
