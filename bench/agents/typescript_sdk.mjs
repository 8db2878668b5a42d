// A small agent on the official TypeScript SDK, written as its examples are.
// "stream N SIZE" sends N updates of SIZE characters, "hang" waits for a cancel, anything else ends at once.
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

// The SDK is installed beside the bench's other peers, not beside this file.
const found = createRequire(process.env.BENCH_NODE_MODULES + "/").resolve("@agentclientprotocol/sdk");
const { agent, methods, ndJsonStream } = await import(pathToFileURL(found));

const cancels = new Map();

async function prompt({ params, client }) {
  const { sessionId } = params;
  const [verb, count, size] = params.prompt[0].text.slice(0, 100).split(" ");
  if (verb === "hang") {
    await new Promise((resolve) => cancels.set(sessionId, resolve));
    return { stopReason: "cancelled" };
  }
  if (verb === "stream") {
    for (let number = 0; number < Number(count); number++) {
      const text = `${String(number).padStart(8, "0")} `.padEnd(Number(size), "x");
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
      });
    }
  }
  return { stopReason: "end_turn" };
}

agent({ name: "bench" })
  .onRequest(methods.agent.initialize, ({ params }) => ({
    protocolVersion: params.protocolVersion,
    agentCapabilities: {},
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: randomUUID() }))
  .onRequest(methods.agent.session.prompt, prompt)
  .onNotification(methods.agent.session.cancel, ({ params }) => cancels.get(params.sessionId)?.())
  .connect(
    ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin), {
      maxMessageBytes: 128 * 1024 * 1024,
    }),
  );
