// Requests to the server this page came from; its errors are problem+json.

export class Refused extends Error {}

// What a saved view brings with it in place of a server: `choices`, and the answers of `encode` by column and text.
const saved = JSON.parse(document.getElementById("saved")?.textContent ?? "null");
export const isSaved = saved !== null;

function savedAnswer(path, body) {
  if (path === "/api/choices") return saved.choices;
  const { text, columns: [column] } = body ?? { columns: [] };
  const known = text === saved.choices.beginning.text && column && saved.answers[`${column.implementation} ${column.model}`];
  if (path === "/api/encode" && known) return { columns: [known] };
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

export const json = async (path, body) => (isSaved ? savedAnswer(path, body) : (await ask(path, body)).json());

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
