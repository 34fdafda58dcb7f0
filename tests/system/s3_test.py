"""Data sets in S3: a real server (SeaweedFS), and failures between one and a run."""

import http.client
import json

from harness import REAL_IMAGES, SystemTest
from nfs_server import Relay as TcpRelay
from s3_server import KEY, READER, READER_SECRET, SECRET, S3Server, environment_of
from web_server import Server, Times, say

SECRETS = "hunter2"  # part of every secret of these tests


class S3Test(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.server = S3Server()
        cls.addClassCleanup(cls.server.stop)
        cls.server.put_folder(REAL_IMAGES, "nih/set")

    def setUp(self):
        super().setUp()
        self.addCleanup(self.assert_no_secret_was_written)
        self.environment = self.server.environment

    def assert_no_secret_was_written(self):
        for file in self.folder.rglob("*"):
            if file.is_file() and file.name != "credentials":
                self.assertNotIn(SECRETS.encode(), file.read_bytes(), file)

    def spec_of(self, data_format="images", root="s3://nih/set", endpoint=None, **keys):
        return self.spec(data__root=root, data__format=data_format, store__endpoint=endpoint or self.server.url,
                         measure__repeats=1, measure__warmup_steps=0, measure__steps=9, **keys)

    def measure(self, *arguments, **keys):
        out = self.folder / f"out{len(list(self.folder.glob('out*')))}"  # a test may measure twice
        done = self.succeed("--config", self.spec_of(*arguments, **keys), "--output", out, env=self.environment)
        self.assertNotIn(SECRETS, done.stdout + done.stderr)
        return self.report(out)["trials"][0]

    def refuse(self, says, **keys):
        done = self.fail_with(3, "--config", self.spec_of(**keys), "--output", self.folder / "out", says=says,
                              env=self.environment)
        self.assertNotIn(SECRETS, done.stdout + done.stderr)
        return done


class GoodServer(S3Test):
    def test_trains_on_images(self):
        trial = self.measure("images")
        self.assertEqual(trial["images"], 18)
        self.assertGreater(trial["file_bytes"], 1e6)  # a listing reports sizes

    def test_trains_on_shards_and_they_hold_what_the_images_hold(self):
        root = self.real_images()
        for data_format in ("tfrecord", "webdataset"):
            self.succeed("data", "convert", root, "--split", "train", "--to", data_format)
        self.server.put_folder(root, "nih/converted")
        for data_format in ("tfrecord", "webdataset"):
            with self.subTest(data_format):
                trial = self.measure(data_format, root="s3://nih/converted/")
                self.assertEqual(trial["files"], 16)
        environment = {**self.environment, "AWS_ENDPOINT_URL": self.server.url}
        self.succeed("data", "check", "s3://nih/converted", env=environment)

    def test_a_staged_copy_holds_what_the_bucket_holds(self):
        environment = {**self.environment, "AWS_ENDPOINT_URL": self.server.url}
        near = self.folder / "near"
        done = self.succeed("data", "stage", "s3://nih/set", near, "--split", "train", env=environment)
        self.assertNotIn(SECRETS, done.stdout + done.stderr)
        staged = sorted(file.name for file in (near / "images").iterdir())
        listed = (REAL_IMAGES / "train_val_list.txt").read_text().split()
        self.assertEqual(staged, sorted(listed))
        for name in staged:
            self.assertEqual((near / "images" / name).read_bytes(), (REAL_IMAGES / "images" / name).read_bytes(), name)
        again = self.succeed("data", "stage", "s3://nih/set", near, "--split", "train", env=environment)
        self.assertIn("Nothing to copy: ", again.stdout)

    def test_a_bucket_may_be_part_of_the_hosts_name(self):
        endpoint = self.server.url.replace("127.0.0.1", "localhost")  # curl resolves every name below localhost to it
        self.assertEqual(self.measure(endpoint=endpoint, store__addressing="virtual")["images"], 18)

    def test_takes_keys_from_a_file(self):
        (self.folder / ".aws").mkdir()
        (self.folder / ".aws/credentials").write_text(
            f"[default]\naws_access_key_id = x\naws_secret_access_key = y\n"
            f"[mine]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
        self.environment = environment_of("", "", HOME=str(self.folder), AWS_PROFILE="mine")
        self.measure("images")

    def test_doctor_tells_how_fast_it_is_and_no_key(self):
        environment = {**self.environment, "AWS_ENDPOINT_URL": self.server.url}
        table = self.succeed("doctor", "--data", "s3://nih/set", env=environment)
        words = " ".join(table.stdout.split())
        self.assertIn("a server (s3), first request", words)
        self.assertRegex(words, r"0\.\d MB of images/00000001_000.png at \d")
        told = self.succeed("doctor", "--data", "s3://nih/set", "--format", "json", env=environment)
        self.assertGreater(json.loads(told.stdout)["store"]["read_bytes"], 10**5)
        self.assertNotIn(SECRETS, table.stdout + table.stderr + told.stdout + told.stderr)
        self.fail_with(3, "doctor", "--data", "s3://nobody/set", env=environment, says="NoSuchBucket")

    def test_a_listing_has_several_pages(self):
        header = "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position\n"
        names = [f"{number:08}_000.png" for number in range(1, 1101)]  # a page has at most 1000
        self.server.put(
            "nih/many/Data_Entry_2017.csv",
            (header + "".join(f"{name},No Finding,0,{i},50,M,PA\n" for i, name in enumerate(names))).encode(),
        )
        for name in names:
            self.server.put(f"nih/many/images/{name}", b"x")
        environment = {**self.environment, "AWS_ENDPOINT_URL": self.server.url}
        done = self.succeed("data", "index", "--explain", "s3://nih/many", env=environment)
        self.assertIn("files: 1100", done.stdout)


class BadAccess(S3Test):
    def test_a_bucket_that_is_not_there(self):
        self.refuse(["s3://nobody/set", "NoSuchBucket", "store.endpoint"], root="s3://nobody/set")

    def test_a_prefix_that_is_not_there(self):
        self.refuse("no data set at 's3://nih/nothing'", root="s3://nih/nothing")

    def test_a_wrong_secret(self):
        self.environment = environment_of(KEY, "hunter2-wrong")
        self.refuse(["403", "SignatureDoesNotMatch"])

    def test_an_unknown_key(self):
        self.environment = environment_of("nobody", "hunter2-wrong")
        self.refuse(["403", "InvalidAccessKeyId"])

    def test_a_user_who_may_not_read_here(self):
        self.environment = environment_of(READER, READER_SECRET)
        self.refuse(["403", "AccessDenied", "may not read"])

    def test_an_object_that_changes_under_the_run(self):
        self.server.put_folder(REAL_IMAGES, "nih/changing")
        table = "nih/changing/train_val_list.txt"
        body = (REAL_IMAGES / "train_val_list.txt").read_bytes()

        with Server(self.folder, Relay(self.server, {table: lambda: self.server.put(table, body + b"\n")})) as relay:
            self.refuse([table, "changed under the run"], root="s3://nih/changing", endpoint=relay.url)


class BreakingConnections(S3Test):
    def converted(self):
        root = self.real_images()
        self.succeed("data", "convert", root, "--split", "train")
        self.server.put_folder(root, "nih/broken")
        return {"data_format": "tfrecord", "root": "s3://nih/broken"}

    def cut(self, times):
        """A relay that breaks connections in mid-object, each time a megabyte further on."""
        cuts = []

        def watch(relay):
            if relay.sent_bytes < 10**6 * (len(cuts) + 1) or len(cuts) == times:
                return False
            cuts.append(relay.sent_bytes)
            return True
        return TcpRelay(int(self.server.url.rsplit(":", 1)[1]), watch)

    def test_that_break_in_mid_object_are_replaced(self):
        keys = self.converted()
        with self.cut(2) as relay:
            self.measure(**keys, endpoint=f"http://127.0.0.1:{relay.port}")

    def test_a_server_that_breaks_them_for_good_is_named_with_the_object(self):
        keys = self.converted()
        with self.cut(10**6) as relay:
            relay.watch = lambda one: one.sent_bytes > 10**6
            self.refuse(["cannot read s3://nih/broken/tfrecord/train-", "5 tries"], **keys,
                        endpoint=f"http://127.0.0.1:{relay.port}")


class Relay:
    """Hands requests on to the real server; `before` PATH calls something once, when PATH is first read."""

    def __init__(self, server, before):
        self.server, self.before = server, before

    def __call__(self, handler):
        path = handler.path.split("?")[0].lstrip("/")
        if path in self.before:
            self.before.pop(path)()
        connection = http.client.HTTPConnection(self.server.url.removeprefix("http://"))
        connection.request(handler.command, handler.path, headers=dict(handler.headers))
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        return True


LISTING = """<ListBucketResult><IsTruncated>false</IsTruncated>
<Contents><Key>set/Data_Entry_2017.csv</Key><Size>{size}</Size></Contents></ListBucketResult>"""


class BadServer(SystemTest):
    """Scripted: behaviour that SeaweedFS cannot be made to show."""

    def index(self, misbehave, says):
        with Server(REAL_IMAGES.parent, misbehave) as server:
            environment = environment_of(KEY, SECRET, AWS_ENDPOINT_URL=server.url, AWS_SESSION_TOKEN="hunter2-token")
            done = self.fail_with(3, "data", "index", "s3://nih/set", says=says, env=environment)
            self.assertNotIn(SECRETS, done.stdout + done.stderr)
            return server

    def test_credentials_that_have_expired(self):
        error = b"<Error><Code>ExpiredToken</Code><Message>hunter2-token has expired</Message></Error>"
        self.index(Times(10**6, lambda *_: True, say(400, error)), ["ExpiredToken", "expired: get new ones"])

    def test_a_server_that_is_busy_for_good(self):
        error = b"<Error><Code>SlowDown</Code></Error>"
        server = self.index(Times(10**6, lambda *_: True, say(503, error)), ["503", "SlowDown", "5 tries"])
        self.assertEqual(len(server.requests), 5)

    def test_an_answer_that_is_no_listing(self):
        self.index(Times(10**6, lambda *_: True, say(200, b"<html>hello</html>")), "is this an S3 server")

    def test_names_that_lead_out_of_the_bucket(self):
        prefixes = "<CommonPrefixes><Prefix>set/../../evil/</Prefix></CommonPrefixes></ListBucketResult>"
        listing = (
            LISTING.format(size=1).replace("</ListBucketResult>", prefixes).replace("Data_Entry_2017.csv", "../x.csv")
        )
        self.index(Times(10**6, lambda *_: True, say(200, listing.encode())), "no data set")

    def test_requests_are_signed_with_the_token(self):
        server = self.index(Times(10**6, lambda *_: True, say(403)), "AccessDenied")
        self.assertIn(f"Credential={KEY}/", server.http.authorizations[0])
        self.assertIn("x-amz-security-token", server.http.authorizations[0])
