#include "report/csv_row.hpp"
#include "results/labels.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {
namespace {

using results::Field;

// What a row is made from.
struct RanksRow {
  const PredictionArm& arm;
  const PredictionRow& row;
};

template <class Visitor>
void visit_arm(Visitor& visit, const PredictionArm& arm) {
  visit(Field{"arm"}, arm.name);
  visit(Field{"pipeline"}, arm.pipeline);
  visit(Field{"format"}, arm.format);
  visit(Field{"model"}, arm.model);
  visit(Field{"image_size"}, arm.image_size);
  visit(Field{"precision"}, arm.precision);
  visit(Field{"profile"}, arm.profile);
  visit(Field{"accelerator"}, arm.accelerator);
  visit(Field{"scaling"}, arm.scaling);
  visit(Field{"batch_size"}, arm.batch_size);
}

template <class Visitor>
void visit_basis(Visitor& visit, const PredictionArm& arm) {
  visit(Field{"cores_per_rank"}, arm.cores_per_rank);
  visit(Field{"input_images_per_s_per_rank"}, arm.input_images_per_s_per_rank);
  visit(Field{"alpha_s"}, arm.alpha_s);
  visit(Field{"beta_bytes_per_s"}, arm.beta_bytes_per_s);
  visit(Field{"launch_s"}, arm.launch_s);
  visit(Field{"fit_rms_error"}, arm.fit_rms_error);
  visit(Field{"grade"}, results::to_string(arm.grade));
  visit(Field{"source"}, arm.source);
}

template <class Visitor>
void visit_columns(Visitor& visit, const RanksRow& place) {
  const PredictionRow& row = place.row;
  visit_arm(visit, place.arm);
  visit(Field{"ranks"}, row.ranks);
  visit(Field{"images_per_s"}, row.images_per_s);
  visit(Field{"efficiency"}, row.efficiency);
  visit(Field{"limit"}, row.limit);
  visit(Field{"wait_share"}, row.wait_share());
  visit(Field{"starves"}, row.starves());
  visit(Field{"linear"}, row.linear());
  visit(Field{"predicted"}, true);  // beside rows of trials.csv, nobody can take it for a measurement
  visit(Field{"step_time_computed"}, row.step_time_computed);
  visit(Field{"extrapolated"}, row.extrapolated);
  visit(Field{"accelerator_share"}, row.accelerator_share());
  visit(Field{"local_batch"}, row.local_batch);
  visit(Field{"decode_images_per_s"}, row.decode_images_per_s);
  visit(Field{"decode_measured"}, row.decode_measured);
  visit(Field{"storage_images_per_s"}, row.storage_images_per_s);
  visit(Field{"compute_images_per_s"}, row.compute_images_per_s);
  visit(Field{"network_images_per_s"}, row.network_images_per_s);
  visit(Field{"exposed_communication_share"}, row.exposed_communication_share);
  visit(Field{"known_images_per_s"}, row.known_images_per_s);
  visit(Field{"fitted"}, row.fitted);
  visit_basis(visit, place.arm);
}

}  // namespace

std::string prediction_csv(const Prediction& prediction) {
  std::string text = report::header_line(report::columns_of(RanksRow{.arm = {}, .row = {}}));
  for (const PredictionArm& arm : prediction.arms) {
    for (const PredictionRow& row : arm.rows) text += report::value_line(RanksRow{.arm = arm, .row = row});
  }
  return text;
}

}  // namespace chexbench::verbs
