"""The child process that serves SQS. Run as `python -m abacus.platform.embedded.sqs_server` by `EmbeddedSqs`."""

import os
from threading import Thread

from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from abacus.platform.embedded import moto_repairs
from abacus.platform.embedded.lifeline import Lifeline


class _QuietHandler(WSGIRequestHandler):
    """Keeps connections open between requests, and does not log each one."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

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
