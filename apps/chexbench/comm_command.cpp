#include "comm_command.hpp"

#include <map>
#include <memory>
#include <string>

#include "bench/comm_sweep.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "format_option.hpp"
#include "output.hpp"
#include "report/comm.hpp"
#include "spec/names.hpp"

namespace chexbench::app {
namespace {

using bench::CommMemory;

const std::map<std::string, GradientType> kTypes{{"f32", GradientType::f32}, {"f16", GradientType::f16}};
const std::map<std::string, CommMemory> kMemories{
    {"auto", CommMemory::automatic}, {"host", CommMemory::host}, {"device", CommMemory::device}};

// The words of a spec's enum.
template <typename Enum>
std::map<std::string, Enum> words_of() {
  std::map<std::string, Enum> words;
  for (const auto& [value, word] : spec::named_values<Enum>()) words.emplace(word, value);
  return words;
}

std::string text_of(const report::CommResult& result, const std::string& format) {
  if (format == "json") return report::comm_json(result);
  return format == "csv" ? report::comm_csv(result) : report::comm_table(result);
}

void run(const bench::CommOptions& options, const std::string& format, bench::Session& session) {
  comm::World& world = session.world();
  const int rank = world.communicator().rank();
  log::configure(log::Level::info, world.communicator().world() > 1 ? rank : -1);
  try {
    bench::check_comm_options(options, world.communicator().world());
  } catch (const SpecError&) {
    session.wait_for_root();  // which finds the same fault, and speaks for all
    throw;
  }
  report::CommResult result = bench::measure_comm(world, options);
  result.chexbench_version = CHEXBENCH_VERSION;
  if (rank == 0) print(text_of(result, format));
}

}  // namespace

void add_comm_command(CLI::App& app, bench::Session& session) {
  const auto options = std::make_shared<bench::CommOptions>();
  const auto format = std::make_shared<std::string>("table");
  CLI::App* const verb = app.add_subcommand(
      "comm", "Time the averaging of gradients over ranks by size, in nccl-tests' terms, and fit alpha and beta");
  verb->add_option("--min-bytes", options->min_bytes, "The smallest size; K, M, G are powers of 1024")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("8");
  verb->add_option("--max-bytes", options->max_bytes, "The largest one; sizes double")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("128M");
  verb->add_option("--ranks", options->ranks, "Worlds to measure, e.g. 2,4 (default: 2, 4, 8, ... and all)")
      ->delimiter(',')
      ->type_name("LIST");
  verb->add_option("--dtype", options->type, "Of the gradients; f16 in GPUs' memory alone")
      ->transform(CLI::CheckedTransformer(kTypes))
      ->option_text("TEXT:{f32,f16}=f32");
  verb->add_option("--memory", options->memory, "Where they lie; auto: on the GPUs where every rank has one")
      ->transform(CLI::CheckedTransformer(kMemories))
      ->option_text("TEXT:{auto,host,device}=auto");
  verb->add_option("--backend", options->comm.backend, "Of GPUs' memory; auto: NCCL where every rank has it")
      ->transform(CLI::CheckedTransformer(words_of<spec::CommBackend>()))
      ->option_text("TEXT:{auto,nccl,mpi}=auto");
  verb->add_option("--update", options->comm.update, "The way the average goes")
      ->transform(CLI::CheckedTransformer(words_of<spec::UpdateScheme>()))
      ->option_text("TEXT:{all_reduce,ring,tree,hierarchical,parameter_server}=all_reduce");
  verb->add_option("--servers", options->comm.servers, "Ranks that serve under parameter_server")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--ranks-per-group", options->comm.ranks_per_group, "Under hierarchical; 0: those of a host")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_flag("--allow-shared-gpu", options->allow_shared_gpu, "Let ranks share a GPU: to try things out");
  verb->add_option("--repeats", options->repeats, "Of each size; an interval needs five")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_format_option(*verb, *format, {"table", "json", "csv"});
  verb->callback([options, format, &session] { run(*options, *format, session); });
}

}  // namespace chexbench::app
