"""A notebook as a context of Vibe Coder: keeps what it is told and finds it again. Standard library only.

The host sets PORT (0: choose one and print it), VIBE_CONTEXT_ID, VIBE_CONTEXT_SECRET (every request bears it) and
VIBE_CONTEXT_DATA (a private folder). It asks for:

    GET  /health         2xx once this serves
    POST /chat           {"message", "threadId"?, "context"?, "thread"?} -> {"threadId", "text", "proposals"}
    GET  /capabilities   {"capabilities": [{"name", "description", "requiresConfirmation"}]}
    GET  /events?from=N  server-sent events after number N, each with a JSON object
"""

import hmac
import json
import os
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

SECRET = os.environ["VIBE_CONTEXT_SECRET"]
NOTES = Path(os.environ["VIBE_CONTEXT_DATA"]) / "notes.json"
LARGEST_REQUEST = 1024 * 1024

CAPABILITIES = [
    {"name": "remember", "description": "Keeps a note.", "requiresConfirmation": False},
    {"name": "find", "description": "Finds notes by a word.", "requiresConfirmation": False},
    {"name": "forget", "description": "Drops all notes.", "requiresConfirmation": True},
]


class Notebook:
    """Notes on disk, and the numbered events of this run."""

    def __init__(self):
        self.changed = threading.Condition()
        self.events = []
        self.notes = json.loads(NOTES.read_text()) if NOTES.exists() else []

    def answer(self, message):
        verb, _, rest = message.strip().partition(" ")
        if verb == "find":
            found = [note for note in self.notes if rest.lower() in note.lower()]
            return "\n".join(found) or "Nothing found."
        note = rest if verb == "remember" else message.strip()
        with self.changed:
            self.notes.append(note)
            unfinished = NOTES.with_suffix(".tmp")
            unfinished.write_text(json.dumps(self.notes))
            unfinished.replace(NOTES)
            self.events.append({"seq": len(self.events) + 1, "type": "noteKept", "text": note})
            self.changed.notify_all()
        return f"Kept. {len(self.notes)} in all."

    def events_after(self, number):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: len(self.events) > number)
                waiting = self.events[number:]
            for event in waiting:
                yield event
            number += len(waiting)


class Handler(BaseHTTPRequestHandler):
    notebook = Notebook()

    def do_GET(self):
        address = urlsplit(self.path)
        if not self.allowed():
            return
        if address.path == "/health":
            self.reply(200, {"ok": True})
        elif address.path == "/capabilities":
            self.reply(200, {"capabilities": CAPABILITIES})
        elif address.path == "/events":
            self.stream(int(parse_qs(address.query).get("from", ["0"])[0]))
        else:
            self.reply(404, {"error": "There is no such address."})

    def do_POST(self):
        if not self.allowed():
            return
        if self.path != "/chat":
            return self.reply(404, {"error": "There is no such address."})
        length = int(self.headers.get("Content-Length", 0))
        if length > LARGEST_REQUEST:
            return self.reply(413, {"error": "The message is too long."})
        turn = json.loads(self.rfile.read(length))
        thread = turn.get("threadId") or uuid.uuid4().hex
        self.reply(200, {"threadId": thread, "text": self.notebook.answer(turn["message"]), "proposals": []})

    def allowed(self):
        if hmac.compare_digest(self.headers.get("Authorization", ""), f"Bearer {SECRET}"):
            return True
        self.reply(401, {"error": "This request does not bear the secret of this context."})
        return False

    def stream(self, number):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for event in self.notebook.events_after(number):
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
        except OSError:
            pass  # Nobody listens any more.

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    sys.stdin.read()  # Ends when the host closes it, or is gone.
    server.shutdown()


main()
