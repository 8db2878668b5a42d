// One conversation through the official TypeScript SDK, printed as a JSON object on stdout.
// stdin has JSON: {command, folder, steps, choose}; tests/e2e/clients.py tells what they are.
// What the SDK can't read from the agent it reports on the console, so look at stderr too.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const order = JSON.parse(readFileSync(0, "utf8"));
const { command, folder, steps, choose } = order;
const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
const gone = new Promise((resolve) => agent.on("exit", (code) => resolve(code)));
agent.stderr.resume();

const updates = [];
const asked = [];
let look = () => {};
let answered;
const untilAnswered = new Promise((resolve) => (answered = resolve));
const until = (text) =>
  new Promise((resolve) => {
    look = () => JSON.stringify([updates, asked]).includes(text) && resolve();
    look();
  });

const answer = async ({ params }) => {
  const wanted = choose.shift();
  asked.push({ toolCall: params.toolCall, options: params.options });
  look();
  if (wanted === "late") await untilAnswered;
  const chosen = params.options.find((each) => [each.kind, each.name].includes(wanted));
  const outcome = chosen
    ? { outcome: "selected", optionId: chosen.optionId }
    : { outcome: "cancelled" };
  return { outcome };
};

let sessionId;
const step = async (context, told) => {
  const where = { cwd: folder, mcpServers: [] };
  if (told.do === "until") return until(told.text).then(() => null);
  if (told.do === "new") {
    const made = await context.request(methods.agent.session.new, where);
    sessionId = made.sessionId;
    return made;
  }
  if (told.do === "load") {
    sessionId = told.session;
    return context.request(methods.agent.session.load, { ...where, sessionId });
  }
  const running = context.request(methods.agent.session.prompt, {
    sessionId,
    prompt: told.blocks,
  });
  if (told.cancelAt) {
    await until(told.cancelAt);
    await context.notify(methods.agent.session.cancel, { sessionId });
  }
  const result = await running;
  answered();
  return result;
};

const found = await client({ name: "typescript" })
  .onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params.update);
    look();
  })
  .onRequest(methods.client.session.requestPermission, answer)
  .connectWith(
    ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)),
    async (context) => {
      const hello = await context.request(methods.agent.initialize, {
        protocolVersion: 1,
        clientCapabilities: {},
      });
      const answers = [];
      for (const told of steps) {
        const one = step(context, told);
        answers.push(await one.catch(({ code, message }) => ({ error: { code, message } })));
      }
      return { hello, answers, updates, asked };
    },
  );
agent.stdin.end();
console.log(JSON.stringify({ ...found, exitCode: await gone }));
