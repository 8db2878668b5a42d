// One conversation through the official TypeScript SDK, printed as a JSON object on stdout.
// argv[2] is JSON: {command, folder, prompt, slow, resume}.  What the SDK can't read from the
// agent it reports on the console, so whoever runs this must also look at stderr.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const { command, folder, prompt, slow, resume } = JSON.parse(process.argv[2]);
const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const gone = new Promise((resolve) => agent.on("exit", (code) => resolve(code)));

const updates = [];
let waiter = () => {};
const untilText = (text) =>
  new Promise((resolve) => {
    waiter = () => chunks(updates).includes(text) && resolve();
    waiter();
  });
const chunks = (all) =>
  all
    .filter((update) => update.sessionUpdate === "agent_message_chunk")
    .map((update) => update.content.text)
    .join("");

const found = await client({ name: "typescript" })
  .onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params.update);
    waiter();
  })
  .connectWith(
    ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)),
    async (context) => {
      const hello = await context.request(methods.agent.initialize, {
        protocolVersion: 1,
        clientCapabilities: {},
      });
      const where = { cwd: folder, mcpServers: [] };
      let sessionId = resume;
      if (resume) {
        await context.request(methods.agent.session.resume, { ...where, sessionId });
      } else {
        ({ sessionId } = await context.request(methods.agent.session.new, where));
      }
      const ask = (text) =>
        context.request(methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: "text", text }],
        });
      const running = ask(slow);
      await untilText("ready");
      await context.notify(methods.agent.session.cancel, { sessionId });
      const cancelled = await running;
      const done = await ask(prompt);
      const refused = await context
        .request(methods.agent.session.prompt, { sessionId: "no-such", prompt: [] })
        .catch((error) => error.code);
      return { hello, sessionId, cancelled, done, refused, text: chunks(updates), updates };
    },
  );
agent.stdin.end();
console.log(JSON.stringify({ ...found, exitCode: await gone }));
