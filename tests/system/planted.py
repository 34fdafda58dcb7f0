"""Secrets in the environment of every process of the system tests, and the search for them in its output.

A secret counts as written in any reversible form: unchanged, percent-encoded, escaped as in JSON or HTML, or as the
base64 text of user:password.
"""

import base64
import html
import os
from pathlib import Path
from urllib.parse import quote

MOST_BYTES = 8_000_000  # of a file that is searched: no file of texts is larger
PASSWORDS = {name: f"planted/{name}&3f9c" for name in ("key", "token", "proxy")}
# curl does not read HTTP_PROXY, but a record of the environment would contain it.
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "PLANTED", "AWS_SECRET_ACCESS_KEY": PASSWORDS["key"],
               "AWS_SESSION_TOKEN": PASSWORDS["token"],
               "HTTP_PROXY": f"http://planted:{quote(PASSWORDS['proxy'], safe='')}@127.0.0.1:9"}


def forms(password):
    return {password, quote(password), quote(password, safe=""), html.escape(password), password.replace("/", "\\/"),
            password.replace("&", "\\u0026"), base64.b64encode(f"planted:{password}".encode()).decode().rstrip("=")}


NEEDLES = [form.encode() for password in PASSWORDS.values() for form in sorted(forms(password))]


def plant():
    """Gives the secrets to this process, and so to its children."""
    os.environ.update(ENVIRONMENT)


def secrets_in(data):
    """The planted secrets in a text, or in bytes."""
    data = data.encode(errors="surrogateescape") if isinstance(data, str) else data or b""
    return [needle.decode() for needle in NEEDLES if needle in data]


def files_with_secrets(folder):
    """"FILE holds SECRET" for each file below the folder with a planted secret in its contents or name."""
    found = []
    for path in Path(folder).rglob("*"):
        found += [f"{path} is named {secret}" for secret in secrets_in(path.name)]
        try:
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_BYTES:
                found += [f"{path} holds {secret}" for secret in secrets_in(path.read_bytes())]
        except OSError:
            continue  # one that no one may read, or that a process took away meanwhile
    return found
