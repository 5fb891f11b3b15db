"""The child process that serves SQS. Run as `python -m abacus.platform.embedded.sqs_server` by `EmbeddedSqs`."""

import os
from io import BytesIO
from threading import Thread

from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Response

from abacus.platform.embedded import moto_repairs
from abacus.platform.embedded.lifeline import Lifeline


class _QuietHandler(WSGIRequestHandler):
    """Keeps connections open between requests, which werkzeug never does, and does not log each one."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def run_wsgi(self) -> None:
        """Reads all of the request before it is answered, so that the next one begins where this one ends."""
        environ = self.make_environ()
        length = int(self.headers.get("Content-Length") or 0)
        body = environ["wsgi.input"].read() if environ.get("wsgi.input_terminated") else self.rfile.read(length)
        answer = Response.from_app(self.server.app, {**environ, "wsgi.input": BytesIO(body)}, buffered=True)
        content = answer.get_data()
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def main() -> None:
    """Serve on a port that the kernel picks until the parent is gone."""
    lifeline = Lifeline()
    moto_repairs.apply()
    # This service's application alone: to choose among all of AWS, moto looks through its directory at each request.
    server = make_server("127.0.0.1", 0, create_backend_app("sqs"), threaded=True, request_handler=_QuietHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    lifeline.announce(f"http://127.0.0.1:{server.server_port}")
    lifeline.hold()
    os._exit(0)  # there is nothing to save, and long polls must not hold us up


if __name__ == "__main__":
    main()
