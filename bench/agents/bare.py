"""The floor of starting up: Python that reads one JSON line and answers it."""

import json
import sys

for line in sys.stdin.buffer:
    request = json.loads(line)
    result: dict[str, object] = {"protocolVersion": 1, "agentCapabilities": {}, "sessionId": "bare"}
    answer: dict[str, object] = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
