"""Seeds of the readers of tables and folders: CSV, step logs, the layouts of data sets."""

import gzip
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def csv_seeds():
    yield "plain", b"a,b,c\n1, 2 ,3\r\n\n4,5,6"
    yield "quoted", b'\xef\xbb\xbf"a,b",c\n"d ""e"" f",g\n"unended, h\n'


def step_log_seeds():
    yield "needed", b"wait_s,step_s,images\n0.1,0.5,16\n0,0.25,16\n"
    yield "all", b"epoch,rank,step_s,wait_s,images,loss\n1,0,0.5,0.1,16,0.7\n1,1,5e-1,0.1,16,0.6\n2,0,0.5,0.1"
    yield "semicolons", b"wait_s;step_s;images\n0,1;0,5;16\n"
    yield "misnamed", b"wait,step_s,images\n0.1,0.5,16\n"
    yield "negative", b"wait_s,step_s,images\n-1,0.5,16\n"


def foreign_log_seeds():
    def event(name, begin_us, duration_us, more=""):
        return f'{{"ph": "X", "name": "{name}", "pid": 7, "tid": 7, "ts": {begin_us}, "dur": {duration_us}{more}}}'

    steps = [event(f"ProfilerStep#{i}", 100 * i, 99.5) for i in range(3)]
    fetches = [event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100 * i, 40) for i in range(3)]
    optimizer = [event("Optimizer.step#SGD.step", 100 * i + 90, 5) for i in range(3)]
    kernels = [event("sgemm", 100 * i + 30, 60, ', "cat": "kernel"') for i in range(3)]
    rank = '"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}, '
    for name, head, events in (
        ("steps", "", steps + fetches),
        ("gpu", rank, kernels + fetches + steps),
        ("no-steps", "", fetches + optimizer),
        ("no-fetches", "", steps),
        ("negative", "", [event("ProfilerStep#1", 0, -1)]),
    ):
        yield f"kineto-{name}", f'{{{head}"traceEvents": [{", ".join(events)}]}}'.encode()
    yield "kineto-list", f'[{", ".join(steps + fetches)}]'.encode()
    tensor = ('{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": %d, "pid": 1}, {"ph": "E", "ts": %d, "pid": 1}, '
              '{"ph": "B", "name": "ALLREDUCE", "ts": %d, "pid": 1}, {"ph": "E", "ts": %d, "pid": 1}')
    times = ((10, 20, 21, 30), (90, 95, 96, 110), (150, 190, 191, 200))
    yield "horovod", f'[{", ".join(tensor % step for step in times)}]'.encode()
    for name, schema, metrics in (("means", 1.9, '"input_wait_ms": 30.5, "step_time_ms": 40'),
                                  ("null", 1.9, '"input_wait_ms": null, "step_time_ms": 40'),
                                  ("old", 1.6, '"dataloader_ms": 3')):
        yield f"traceml-{name}", (
            f'{{"schema_version": {schema}, "primary_diagnosis": {{}}, "step_time": {{"global": {{"window": '
            f'{{"steps_analyzed": 40}}}}, "groups": {{"rows": {{"0": {{"metrics": {{{metrics}}}}}}}}}}}}}').encode()
    yield "traceml-compare", b'{"schema_version": 2, "lhs": {"path": "a/final_summary.json"}, "rhs": {"path": "b"}}'
    yield "dlio-output", b'{"1": {"load": {"block1": [0.2, 0.1]}, "proc": {"block1": [0.3, 0.2]}, "au": {"block1": 8}}}'
    yield "dlio-summary", (b'{"num_accelerators": 2, "num_files_train": 48, "num_samples_per_file": 1, "metric": '
                           b'{"train_au_percentage": [8.5, 9], "train_throughput_samples_per_second": [7.5, 8]}}')
    yield "dlio-epochs", b'{"1": {"start": "2026-11-26T05:51:01", "block1": {"duration": "6.1"}, "duration": "6.2"}}'
    yield "csv", b"wait_s,step_s,images\n0.1,0.5,16\n"
    yield "packed", b"\x1f\x8b\x08\x00"
    yield "deep", b"[" * 70
    yield "huge", b'{"a": 1e999}'


def options(columns="*", separator="", none="", image="", split="", patient=""):
    return "\n".join((columns, separator, none, image, split, patient, "")).encode()


def csv_layout_seeds():
    yield "flags", options() + b"image,Mass,Nodule\na.png,1,0\nb/c.jpg,0,1.0\n"
    yield "names", options("findings", "|", "none", "file", "split", "patient") + (
        b"file,findings,split,patient\na,Mass|Nodule,train,p1\nb/a,none,val,p2\nc.jpg,Mass,test,p1\n")
    yield "patterns", options("M*,N*e", split="split") + b'image,Mass,Nodule,split\n"a.png",1,0,valid\nx.png,0,0,\n'
    yield "leads-out", options() + b"image,Mass\n../a.png,1\n"
    yield "twice", options() + b"image,Mass\na.png,1\na.png,1\n"
    yield "ambiguous", options() + b"image,Mass\na,1\n"
    yield "value", options() + b"image,Mass\na.png,yes\n"


def nih_layout_seeds():
    head = "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,\n"
    yield "rows", ("a.png|b.png|c.png\n" + head + "a.png,Mass|Nodule,0,1,058Y,M,PA,\nb.png,No Finding,1,2,006M,F,AP,\n"
                   ).encode()
    yield "unknown", ("\n" + head + "a.png,Mas,0,1,58,M,PA,\n").encode()
    yield "short", ("\n" + head + "a.png,Mass\n").encode()
    table = (ROOT / "tests/data/nih/Data_Entry_2017.csv").read_bytes().split(b"\n")
    yield "real", b"00000001_000.png\n" + b"\n".join(table[:6])


def chexpert_layout_seeds():
    head = b"Path,Sex,Age,Frontal/Lateral,AP/PA,Edema,Mass\n"
    row = b"CheXpert-v1.0/train/patient00001/study1/view1_frontal.jpg,Female,68,Frontal,AP,"
    for meaning in range(4):
        yield f"meaning-{meaning}", bytes([meaning]) + b"Edema,Mass\n" + head + row + b"-1.0,\n"
    yield "published", b"\2*\n" + head + row + b"1.0,0.0\n"
    yield "leads-out", b"\2Edema\n" + head + row.replace(b"study1", b"..") + b"1,0\n"
    yield "no-patient", b"\2Edema\n" + head + row.replace(b"patient00001", b"someone") + b"1,0\n"


def mimic_layout_seeds():
    labels = b"subject_id,study_id,Edema|10000032,50414267,1.0|10000764,57375967,|\n"
    head = b"dicom_id,study_id,subject_id,split\n"
    yield "joined", labels + head + b"a,50414267,10000032,train\nb,57375967,10000764,validate\n"
    yield "unlabelled", labels + head + b"a,50414267,10000032,train\nc,1,2,test\n"
    yield "leads-out", labels + head + b"../a,50414267,10000032,train\n"
    yield "split", labels + head + b"a,50414267,10000032,dev\n"
    yield "twice", labels.replace(b"57375967", b"50414267") + head


def packed_table_seeds():
    yield "whole", gzip.compress(b"a,b\n1,2\n", mtime=0)
    yield "members", gzip.compress(b"a,b\n", mtime=0) + gzip.compress(b"1,2\n", mtime=0)
    yield "truncated", gzip.compress(b"a,b\n" * 100, mtime=0)[:-9]
    yield "plain", b"a,b\n1,2\n"


def folder_layout_seeds():
    yield "classes", b"Mass/a.png\nNodule/b.jpg\nNodule/c/d.PNG\nREADME.md\n"
    yield "splits", b"train/Mass/a.png\nvalidation/Mass/b.png\ntest/Nodule/c.png\nd.png\n"
    yield "deep", b"a/" * 40 + b"b.png\n"
    yield "tables", b"labels.csv\na.png\n"


def label_columns_seeds():
    yield "pattern", options("M*,*e") + b"image,Mass,Nodule,patient_id"
    yield "fits", options("a*b*c") + b"abbbc"
    yield "unknown", options("Mas", split="fold") + b"image,Mass,split"
    yield "separator", options("findings", "|", image="image") + b"image,findings"
    yield "twice", options() + b"a,b,a"
