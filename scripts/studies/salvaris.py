"""Mathew Salvaris's talk "Distributed Deep Learning": GPUs, networks and precisions on synthetic data, then ResNet50 on
V100s by store, loader and data format.
"""

import time

import page
import salvaris_gpus as gpus
import salvaris_network as network
import salvaris_storage as storage
from budget import measure_until
from measuring import say
from planning import left_out
from worlds import made_by

NAME = "salvaris"
TITLE = "Salvaris's talk: Distributed Deep Learning"
NEEDS_DATA = False


def claims(precisions, networks, sent, published, stores, ratios):
    return [network.claim(network.ratios_of(sent), networks, published), gpus.small_model_claim(networks),
            gpus.mixed_claim(precisions, published), storage.loaders_claim(ratios), storage.location_claim(stores),
            storage.formats_claim(ratios)]


def blocks(found, drawn, plan, missing, speeds, misfits, budget_minutes, environment):
    if environment:
        yield made_by(NAME, budget_minutes, environment)
    yield page.paragraph(
        "Mathew Salvaris trained with tf_cnn_benchmarks and Horovod on up to 32 K80s, P40s, P100s and V100s, four to a "
        "node with InfiniBand, over synthetic data in batches of 64; then ResNet50 on V100s with Keras, PyTorch and "
        "TensorFlow over local disks, NFS and blob storage. The talk's charts have no values. His repository "
        "BatchAIHorovodBenchmark has the charts of ResNet50 as SVGs, and the heights of their bars are drawn as stars; "
        "its MobileNetV2 ran with a wrong layout of data (tensorflow/benchmarks issue 278), so it is left out. Of his "
        "charts of stores and formats no source has values, but for one of NFS.")
    yield page.heading("Claims")
    yield page.table(["claim", "verdict", "evidence"], found)
    yield page.paragraph(f"Rates are called equal within {100 * storage.EQUAL:.0f} %. GPUs and networks are predicted, "
                         "and predictions judge nothing.")
    yield from drawn
    yield from misfits
    yield page.heading("Speeds of one GPU")
    yield page.paragraph("All rows of figures 1 to 5 are predicted from these. \"Computed\" ones were not measured; "
                         "configs/accelerators says how they were made.")
    yield speeds
    if missing:
        yield page.heading("Not predicted")
        yield page.bullets(missing)
    if left_out(plan):
        yield page.heading("Not measured")
        yield page.paragraph(f"With a budget of {budget_minutes:g} minutes these were left out:")
        yield page.bullets(left_out(plan))


def run(folder, data, budget_minutes):
    """Predicts, measures and writes the pages; returns their paths and the claims."""
    ends = time.monotonic() + 60 * budget_minutes
    published, published_stores = gpus.published_rows(), storage.published_rows()
    link_rows = gpus.links()
    found, missing = gpus.speeds()
    images = storage.check(data) if data else None
    say(f"{NAME}: predicting {len(found)} trainings")
    rows, precisions = gpus.predict(found, link_rows), gpus.precision_rows()
    networks = gpus.network_rows(rows, published)
    if data is None and (ends - time.monotonic() > storage.MAKE_S or storage.is_made(folder)):
        data = storage.own_data(folder)
    plan = storage.groups()
    storage.forecast(plan, data)
    reports = measure_until(ends, NAME, plan, lambda group: storage.run_of(group, folder, data),
                            lambda group: storage.RANK_BYTES)
    pairs = network.groups(found)
    sending = measure_until(ends, NAME, pairs, lambda group: network.run_of(group, folder, found),
                            lambda group: network.RANK_BYTES)
    stores, ratios, sent = storage.rows_of(reports), storage.ratios_of(reports), network.rows_of(sending)
    drawn = [*gpus.scaling_blocks(folder, rows, published), *gpus.precision_blocks(folder, precisions, published),
             *gpus.step_blocks(folder, rows, link_rows), *gpus.network_blocks(folder, networks),
             *network.blocks(folder, sent), *storage.storage_blocks(folder, stores, published_stores, images),
             *storage.format_blocks(folder, stores)]
    judged = claims(precisions, networks, sent, published, stores, ratios)
    environment = next((report["environment"] for _, report in [*reports, *sending]), None)
    content = blocks(judged, drawn, [*plan, *pairs], missing, gpus.speed_table(found),
                     gpus.misfit_blocks(rows, published), budget_minutes, environment)
    return page.publish(folder, TITLE, content, judged)
