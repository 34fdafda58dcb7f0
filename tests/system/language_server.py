"""A client of a language server, like an editor: JSON-RPC over the server's stdin and stdout."""

import json
import queue
import subprocess
import threading


class LanguageServer:
    def __init__(self, command, folder, timeout_s=60):
        self.timeout_s = timeout_s
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.messages = queue.Queue()
        self.diagnostics = {}
        self.last_id = 0
        threading.Thread(target=self.receive, daemon=True).start()
        completion = {"completionItem": {"documentationFormat": ["plaintext"], "snippetSupport": True}}
        self.request("initialize", processId=None, rootUri=folder.as_uri(),
                     capabilities={"textDocument": {"completion": completion, "hover": {}}},
                     initializationOptions={"handledSchemaProtocols": ["file"]})
        self.send("initialized")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def receive(self):
        """Reads messages until the server closes its output."""
        while header := self.process.stdout.readline():
            length = int(header.split(b":")[1]) if header.lower().startswith(b"content-length") else 0
            while self.process.stdout.readline().strip():
                pass
            self.messages.put(json.loads(self.process.stdout.read(length)))

    def send(self, method, **parameters):
        self.write({"method": method, "params": parameters})

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def take(self, is_wanted):
        """The next wanted message; answers the server's requests meanwhile, and keeps its diagnostics."""
        while True:
            message = self.messages.get(timeout=self.timeout_s)
            if message.get("method") == "textDocument/publishDiagnostics":
                self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
            if "id" in message and "method" in message:
                self.write({"id": message["id"], "result": None})
            if is_wanted(message):
                return message

    def request(self, method, **parameters):
        self.last_id += 1
        self.write({"id": self.last_id, "method": method, "params": parameters})
        answer = self.take(lambda message: message.get("id") == self.last_id and "method" not in message)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, path, text=None):
        """Opens a document with comments, like an editor's buffer; the server's diagnostics."""
        uri = path.as_uri()
        self.diagnostics.pop(uri, None)
        self.send("textDocument/didOpen", textDocument={"uri": uri, "languageId": "jsonc", "version": 1,
                                                        "text": path.read_text() if text is None else text})
        self.take(lambda _: uri in self.diagnostics)
        return self.diagnostics[uri]

    def ask(self, method, path, line, character):
        return self.request(f"textDocument/{method}", textDocument={"uri": path.as_uri()},
                            position={"line": line, "character": character})
