# ruff: noqa: D102, PT009 - plain unittest, and names that are sentences
"""The web side, asked without a socket."""

from __future__ import annotations

import json
import unittest
from wsgiref.util import setup_testing_defaults

from box.app import answer, application
from box.version import VERSION


class AppTest(unittest.TestCase):
    """Every route, and what is not one."""

    def test_health_names_the_version(self) -> None:
        self.assertEqual(answer("GET", "/health"), (200, {"status": "ok", "version": VERSION}))

    def test_a_box_has_a_count(self) -> None:
        self.assertEqual(answer("GET", "/boxes/crate"), (200, {"name": "crate", "count": 3}))

    def test_an_unknown_box_is_not_found(self) -> None:
        self.assertEqual(answer("GET", "/boxes/jewel")[0], 404)

    def test_an_unknown_route_is_not_found(self) -> None:
        self.assertEqual(answer("GET", "/v2/boxes")[0], 404)

    def test_only_reading_is_supported(self) -> None:
        self.assertEqual(answer("POST", "/boxes")[0], 405)

    def test_the_body_is_json_of_the_stated_length(self) -> None:
        environ: dict[str, object] = {"PATH_INFO": "/boxes"}
        setup_testing_defaults(environ)
        seen: dict[str, object] = {}

        def start_response(status: str, headers: list[tuple[str, str]]) -> None:
            seen.update(headers, status=status)

        body = b"".join(application(environ, start_response))

        self.assertEqual(seen["status"], "200 OK")
        self.assertEqual(seen["Content-Length"], str(len(body)))
        self.assertEqual(json.loads(body), {"boxes": ["crate", "hatbox", "shoebox"]})


if __name__ == "__main__":
    unittest.main()
