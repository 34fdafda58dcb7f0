"""Seeds of servers' answers."""

import struct


def s3_xml_seeds():
    page = (b'<?xml version="1.0"?><ListBucketResult><IsTruncated>%s</IsTruncated>%s<EncodingType>url</EncodingType>'
            b"<Contents><Key>a%%2Fb+c.png</Key><Size>12</Size><ETag>&quot;e&quot;</ETag></Contents>"
            b"<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></ListBucketResult>")
    yield "last", page % (b"false", b"")
    yield "next", page % (b"true", b"<NextContinuationToken>t</NextContinuationToken>")
    yield "no-token", page % (b"true", b"")
    yield "error", b"<Error><Code>NoSuchBucket</Code><Message>no</Message></Error>"
    yield "cut", (page % (b"false", b""))[:150]


def index_page_seeds():
    yield "nginx", b'<a href="../">../</a>\n<a href="images/">images/</a>\n<a href="a%20b.png">a b.png</a>\n'
    yield "apache", b'<a href="?C=N;O=D">Name</a><a href="/">Parent</a><a href="./a&amp;b.png">x</a>'
    yield "odd", b'<a href="http://x/y"></a><a href="a%00.png"><a href="%2e%2e/"><a href="&#x27;&lt;'


def url_seeds():
    for name, text in (("http", "http://host:80/a/b/"), ("s3", "S3://bucket"), ("path", "/data/nih"),
                       ("user", "https://u:p@host/"), ("query", "http://host/a?b"), ("encoded", "a%2Fb%zz%")):
        yield name, text.encode()


def reply(status=200, length=None, content_range="", pieces=(), etag="e"):
    count = b"\1" if length is not None else b"\0"
    number = b"" if length is None else b"\2" + struct.pack(">H", length)
    head = "\n".join((content_range, etag, "date", "error", "")).encode()
    body = b"".join(piece + b"\n" for piece in pieces)
    return bytes([status >> 2, status & 3]) + count + number + head + bytes([len(pieces)]) + body


def http_reply_seeds():
    yield "range", b"\3" + b"\3\0" + reply(206, 4, "bytes 0-3/10", (b"ab", b"cd"))
    yield "read", b"\0" + b"\1" + reply(200, 4, "", (b"abcd",)) + b"\0" + reply(200, 4)
    yield "changed", b"\0" + b"\1" + reply(200, 2, "", (b"ab",)) + b"\1" + reply(200, 2, "", (b"ab",), "f")
    yield "listing", b"\0" + b"\2" + reply(200, None, "", (b"<a>",)) + b"\2" + reply(404)
    yield "error", b"\0" + b"\1" + reply(403)


def attributes(kind=0, size=4, seconds=1_700_000_000):
    return bytes([kind, 1, size, 4]) + struct.pack(">I", seconds) + b"\0"


def nfs_answer_seeds():
    yield "list", b"\0\1\2a.png\n" + attributes() + b"b\n" + attributes(1) + b"\1"
    yield "read", b"\2\1" + attributes() + b"\1abcd\n" + attributes()
    yield "absent", b"\1\x10no such file\n"
    yield "changed", b"\1\1" + attributes() + b"\2\1abcd\n" + attributes(seconds=1_700_000_001)


def http_head_seeds():
    part = b"HTTP/1.1 206 Partial Content\r\nContent-Length: 4\r\nContent-Range: bytes 0-3/10\r\nETag: \"e\"\r\n%s\r\n"
    yield "part", part % b""
    yield "packed", part % b"Content-Encoding: gzip\r\n"
    yield "moved", b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://host/b\r\n\r\n"


def aws_settings_seeds():
    files_text = b"[default]\naws_access_key_id = id\naws_secret_access_key=secret\n# c\n[profile p]\nregion = eu\n"
    yield "file", b"AWS_PROFILE=\n" + files_text
    yield "profile", b"AWS_PROFILE=p AWS_ENDPOINT_URL=http://host:1\n" + files_text
    yield "half", b"AWS_ACCESS_KEY_ID=id\n"
