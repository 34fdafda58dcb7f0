"""Seeds of the readers of tables and folders: CSV, step logs, the layouts of data sets."""

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
