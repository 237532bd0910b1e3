// Requests to the server this page came from; its errors are problem+json.

export class Refused extends Error {}

export async function ask(path, body, type = "application/json", tries = 4) {
  const content = type === "application/json" && body !== undefined ? JSON.stringify(body) : body;
  const request = body === undefined ? {} : { method: "POST", headers: { "content-type": type }, body: content };
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new Refused("The server does not answer; is `bpebench play` still running?");
  }
  if (response.ok) return response;
  const wait = Number(response.headers.get("retry-after"));
  if (wait && tries) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * wait));
    return ask(path, body, type, tries - 1);
  }
  const problem = await response.json().catch(() => ({}));
  throw new Refused(problem.detail ?? `the server answered with status ${response.status}`);
}

export const json = async (path, body) => (await ask(path, body)).json();

// What a column answers: its tokens with the bytes of the text they come from, as far as these are known.
export async function encode(column, text, allowSpecial = false) {
  const { columns: [answer] } = await json("/api/encode", { text, columns: [column], allow_special: allowSpecial });
  const unknown = answer.spans.indexOf(null);
  const spans = unknown < 0 ? answer.spans : answer.spans.slice(0, unknown);
  return { ...answer, starts: spans.map((span) => span[0]), ends: spans.map((span) => span[1]) };
}
