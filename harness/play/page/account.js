// Why two columns differ: the account of `bpebench explain`, in a dialog.

import { json } from "./api.js";
import { $, h, visible } from "./dom.js";

const AROUND = 2000, STEPS = 40, TOKENS = 16;

// The line of the text that holds a byte, as far as it is not too long: explaining takes time.
function lineAt(bytes, byte) {
  let start = byte, end = byte;
  while (start > 0 && byte - start < AROUND && bytes[start - 1] !== 10) start--;
  while (end < bytes.length && end - byte < AROUND && bytes[end] !== 10) end++;
  return new TextDecoder().decode(bytes.subarray(start, end)).replace(/^\ufffd+|\ufffd+$/g, "");
}

const row = (name, cells, here = false) => h("tr", { class: here && "here" }, h("th", { scope: "row" }, name), ...cells.map((cell) => h("td", {}, ...[cell].flat())));
const quoted = (text) => ["‘", ...visible(text), "’"];

function stepLine(step) {
  const rank = step.rank == null ? "" : `, rank ${step.rank}`;
  const parts = step.action === "merge" ? [...quoted(step.left), " + ", ...quoted(step.right), " → "] : [`${step.action}: `];
  return [...parts, ...quoted(step.result), rank, step.note ? ` (${step.note})` : ""];
}

function pieceLine(piece) {
  const tokens = piece.tokens.slice(0, TOKENS).flatMap((token) => [...quoted(token.text ?? "?"), ` ${token.id} `]);
  return [...quoted(piece.text), " → ", ...tokens, piece.tokens.length > TOKENS ? "…" : ""];
}

function table({ a, b, step }, names) {
  const sides = [a, b];
  const rows = [row("what it is", sides.map((side) => side.about || "–"))];
  if (sides.some((side) => side.error)) rows.push(row("refuses", sides.map((side) => side.error ?? "–")));
  if (sides.some((side) => side.rewriting)) rows.push(row("rewrites", sides.map((side) => side.rewriting || "–")));
  const differing = sides.map((side) => side.pieces.filter((piece) => piece.differs));
  for (let k = 0; k < Math.max(...differing.map((pieces) => pieces.length)); k++) {
    rows.push(row("piece", differing.map((pieces) => (pieces[k] ? pieceLine(pieces[k]) : "–"))));
  }
  if (sides.some((side) => side.way)) rows.push(row("by", sides.map((side) => side.way || "–")));
  const longest = Math.max(...sides.map((side) => side.steps.length));
  for (let k = 0; k < Math.min(longest, STEPS); k++) {
    rows.push(row(`step ${k + 1}`, sides.map((side) => (side.steps[k] ? stepLine(side.steps[k]) : "")), k + 1 === step));
  }
  if (longest > STEPS) rows.push(row("", sides.map((side) => `… ${side.steps.length} steps in all`)));
  const head = h("thead", {}, h("tr", {}, h("td", {}), ...names.map((name) => h("th", { scope: "col" }, name))));
  return h("div", { class: "table" }, h("table", {}, head, h("tbody", {}, ...rows)));
}

export async function account(first, second, text, bytes, byte) {
  const names = [first, second].map((column) => `${column.implementation} on ${column.model}`);
  const title = $("account-title"), body = $("account-body");
  title.textContent = `${names[0]} and ${names[1]}`;
  body.replaceChildren(h("p", { class: "quiet" }, "finding the first stage that differs …"));
  if (!$("account").open) $("account").showModal();
  const short = byte === null ? text.slice(0, AROUND) : lineAt(bytes, byte); // it begins with the first marked token
  try {
    const answer = await json("/api/explain", { text: short, columns: [first, second] });
    if (answer.agree === false) title.textContent = `They differ first in: ${answer.stage}`;
    body.replaceChildren(
      h("p", {}, ...visible(answer.what, true)),
      h("ul", {}, ...(answer.evidence ?? []).map((line) => h("li", {}, ...visible(line, true)))),
      table({ a: side(answer.a), b: side(answer.b), step: answer.step }, names),
      h("p", { class: "quiet" }, short === text ? "For the whole text." : "For the line that holds the first marked token."),
    );
  } catch (error) {
    body.replaceChildren(h("p", {}, error.message));
  }
}

// Fields at their default are left out of the answer.
const side = (summary) => ({ about: "", error: null, rewriting: "", way: "", ...summary,
  steps: (summary.steps ?? []).map((step) => ({ left: "", right: "", result: "", note: "", ...step })),
  pieces: (summary.pieces ?? []).map((piece) => ({ tokens: [], ...piece })) });
