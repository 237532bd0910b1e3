// Requests to the server this page came from; its errors are problem+json.

export class Refused extends Error {}

// What a saved view brings with it in place of a server: `choices`, and the answer of `follow` by column, in base64.
const saved = JSON.parse(document.getElementById("saved")?.textContent ?? "null");
export const isSaved = saved !== null;

function savedAnswer(path) {
  if (path === "/api/choices") return saved.choices;
  throw new Refused("This view was saved and has no server; `bpebench play` answers more.");
}

export async function ask(path, body, type = "application/json", signal = undefined) {
  const content = type === "application/json" && body !== undefined ? JSON.stringify(body) : body;
  const request = body === undefined ? {} : { method: "POST", headers: { "content-type": type }, body: content, signal };
  let response;
  try {
    response = await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer; is `bpebench play` still running?");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Refused(problem.detail ?? `the server answers with status ${response.status}`);
}

export const json = async (path, body) => (isSaved ? savedAnswer(path) : (await ask(path, body)).json());

// The answer of `/api/follow`: its head with the arrays it names.
export async function follow(body) {
  const { implementation, model } = body.column;
  if (!isSaved) return unpacked(await (await ask("/api/follow", body)).arrayBuffer());
  const answer = body.text === saved.choices.beginning.text && saved.answers[`${implementation} ${model}`];
  return answer ? unpacked(Uint8Array.from(atob(answer), (character) => character.codePointAt(0)).buffer) : savedAnswer();
}

function unpacked(buffer) {
  let at = 4 + new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, at - 4)));
  for (const [name, length] of Object.entries(head.arrays)) {
    head[name] = new Uint32Array(buffer, at, length);
    at += 4 * length;
  }
  return head;
}

// Server-sent events of a request: [name, value] as they come.
export async function* events(path, body, signal) {
  const reader = (await ask(path, body, "application/json", signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [name, data] = block.split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
      yield [name, JSON.parse(data)];
    }
  }
}
