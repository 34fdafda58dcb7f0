#include "spec/key_conditions.hpp"

#include <string>

#include "spec/url.hpp"

namespace chexbench::spec {
namespace {

bool has_epochs(const TrialSpec& trial) { return trial.training.epochs > 0; }

// Whether the second job takes a separate folder.
bool second_job_reads(const SecondJobSpec& job) {
  return job.kind == SecondJobKind::input || job.kind == SecondJobKind::both || job.kind == SecondJobKind::storage;
}

}  // namespace

bool uses_pipeline(const TrialSpec& trial) { return trial.data.format != DataFormat::synthetic; }

const Condition& pipeline_condition() {
  static const Condition condition{uses_pipeline, "data.format is not synthetic"};
  return condition;
}

bool is_distant(const TrialSpec& trial) { return is_url(trial.data.root); }

bool has_engine(const TrialSpec& trial) { return trial.engine != "none"; }

bool is_emulated(const TrialSpec& trial) { return trial.engine.starts_with(kEmulatedPrefix); }

bool sends_gradients(CommModel model) { return model == CommModel::real || model == CommModel::shaped; }

bool has_second_job(const TrialSpec& trial) { return trial.second_job.kind != SecondJobKind::none; }

bool second_job_trains(const SecondJobSpec& job) {
  return job.kind == SecondJobKind::training || job.kind == SecondJobKind::both;
}

const std::string& second_job_root(const TrialSpec& trial) {
  const SecondJobSpec& job = trial.second_job;
  return second_job_reads(job) && !job.root.empty() ? job.root : trial.data.root;
}

// Stating these keys in other trials is allowed, so that --set engine=none or data.format=synthetic works on any spec.
KeyRule input_only(KeyRule rule) {
  rule.swept_where = pipeline_condition();
  return rule;
}

KeyRule engine_only(KeyRule rule) {
  rule.swept_where = {has_engine, "engine is not none"};
  return rule;
}

KeyRule trained_only(KeyRule rule) {
  rule.swept_where = {[](const TrialSpec& trial) { return has_engine(trial) && !is_emulated(trial); },
                      "engine is neither none nor emulated"};
  return rule;
}

KeyRule emulated_only(KeyRule rule) {
  rule.swept_where = {is_emulated, "engine is emulated:<profile>"};
  return rule;
}

KeyRule scaled_only(KeyRule rule) {
  rule.swept_where = {
      [](const TrialSpec& trial) { return is_emulated(trial) && trial.emulation.cores_per_accelerator > 0; },
      "engine is emulated:<profile> and emulation.cores_per_accelerator is above 0"};
  return rule;
}

KeyRule buckets_only(KeyRule rule) {
  rule.swept_where = {[](const TrialSpec& trial) { return has_engine(trial) && trial.comm.model != CommModel::none; },
                      "engine and comm.model are not none"};
  return rule;
}

KeyRule gpu_only(KeyRule rule) {
  rule.swept_where = {[](const TrialSpec& trial) { return trial.engine == "auto" || trial.engine == "cuda"; },
                      "engine is auto or cuda"};
  return rule;
}

KeyRule sgd_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) { return trial.training.optimizer == OptimizerKind::sgd; },
                       "training.optimizer is sgd"};
  return rule;
}

KeyRule cuda_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) { return trial.engine == "cuda"; }, "engine is cuda"};
  return rule;
}

KeyRule epochs_only(KeyRule rule) {
  rule.stated_where = {has_epochs, "training.epochs is above 0"};
  return rule;
}

KeyRule steps_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) { return !has_epochs(trial); }, "training.epochs is 0"};
  return rule;
}

KeyRule plateau_only(KeyRule rule) {
  rule.stated_where = {
      [](const TrialSpec& trial) { return has_epochs(trial) && trial.training.schedule == Schedule::plateau; },
      "training.schedule is plateau"};
  return rule;
}

KeyRule alpha_beta_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) { return trial.comm.model == CommModel::alpha_beta; },
                       "comm.model is alpha_beta"};
  return rule;
}

KeyRule links_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) {
                         return trial.comm.model == CommModel::alpha_beta || trial.comm.model == CommModel::shaped;
                       },
                       "comm.model is alpha_beta or shaped"};
  return rule;
}

KeyRule scheme_only(UpdateScheme scheme, const char* in_words, KeyRule rule) {
  rule.stated_where = {[scheme](const TrialSpec& trial) { return trial.comm.update == scheme; }, in_words};
  return rule;
}

namespace {

bool has_own_table(const TrialSpec& trial) { return uses_pipeline(trial) && trial.data.layout == DataLayout::csv; }

}  // namespace

KeyRule own_table_only(KeyRule rule) {
  rule.stated_where = {has_own_table, "data.layout is csv"};
  return rule;
}

KeyRule labelled_table_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) {
                         const DataLayout layout = trial.data.layout;
                         return has_own_table(trial) || (uses_pipeline(trial) && (layout == DataLayout::chexpert ||
                                                                                  layout == DataLayout::mimic));
                       },
                       "data.layout is csv, chexpert or mimic"};
  return rule;
}

KeyRule joined_labels_only(KeyRule rule) {
  rule.stated_where = {
      [](const TrialSpec& trial) { return has_own_table(trial) && !trial.data.labels.separator.empty(); },
      "data.layout is csv and data.labels.separator is given"};
  return rule;
}

KeyRule numbered_classes_only(KeyRule rule) {
  rule.stated_where = {
      [](const TrialSpec& trial) { return !uses_pipeline(trial) || trial.data.layout == DataLayout::imagenet; },
      "data.layout is imagenet or data.format is synthetic"};
  return rule;
}

KeyRule fast_decoder_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) { return trial.data.decoder == DecoderKind::fast; },
                       "data.decoder is fast"};
  return rule;
}

KeyRule distant_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) { return uses_pipeline(trial) && is_distant(trial); },
                       "data.root is a URL"};
  return rule;
}

KeyRule web_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) {
                         const std::string& root = trial.data.root;
                         return uses_pipeline(trial) && (root.starts_with("http://") || root.starts_with("https://"));
                       },
                       "data.root begins with http:// or https://"};
  return rule;
}

// Only PNG files are never mapped.
KeyRule mapped_only(KeyRule rule) {
  rule.swept_where = {[](const TrialSpec& trial) {
                        return uses_pipeline(trial) && !is_distant(trial) && trial.data.format != DataFormat::png;
                      },
                      "data.format is tfrecord, webdataset or cached and data.root is a folder of this machine"};
  return rule;
}

KeyRule second_job_only(KeyRule rule) {
  rule.stated_where = {has_second_job, "second_job.kind is not none"};
  return rule;
}

KeyRule second_training_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) { return second_job_trains(trial.second_job); },
                       "second_job.kind is training or both"};
  return rule;
}

KeyRule second_reader_only(KeyRule rule) {
  rule.stated_where = {[](const TrialSpec& trial) { return second_job_reads(trial.second_job); },
                       "second_job.kind is input, both or storage"};
  return rule;
}

KeyRule s3_only(KeyRule rule) {
  rule.stated_where = {
      [](const TrialSpec& trial) { return uses_pipeline(trial) && trial.data.root.starts_with("s3://"); },
      "data.root begins with s3://"};
  return rule;
}

}  // namespace chexbench::spec
