// Training on the text of the page: merges as they come, where their counts flatten, and the model as a column.

import { events } from "./api.js";
import { addColumn, refreshChoices } from "./columns.js";
import { $, figure, h, visible } from "./dom.js";
import { choices, state } from "./state.js";

const SHOWN = 300;
const SVG = "http://www.w3.org/2000/svg";
let running = null, counts = [];

export function hold(model) {
  choices.models = [...choices.models.filter(({ name }) => name !== model.model), { name: model.model, label: model.label }];
  refreshChoices();
}

function add(merges) {
  const rows = merges.slice(0, Math.max(0, SHOWN - counts.length)).map(([left, right, token, count], k) =>
    h("tr", {}, h("td", { class: "number" }, figure(counts.length + k + 1)),
      ...[left, right, token].map((part) => h("td", {}, ...visible(part))), h("td", { class: "number" }, figure(count))));
  $("merges").tBodies[0].append(...rows);
  for (const [, , , count] of merges) counts.push(count);
  $("trained").textContent = `${figure(counts.length)} merges`;
  draw(null);
}

function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// Counts by merge, both axes logarithmic.
function draw(plateau) {
  if (counts.length < 2) return;
  const x = (k) => (100 * Math.log(k + 1)) / Math.log(counts.length);
  const y = (count) => 100 - (100 * Math.log(Math.max(1, count))) / Math.log(Math.max(2, counts[0]));
  const line = counts.map((count, k) => `${k ? "L" : "M"}${x(k).toFixed(2)} ${y(count).toFixed(2)}`).join("");
  const svg = shape("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  svg.append(shape("path", { d: line }));
  if (plateau !== null) svg.append(shape("line", { x1: x(plateau), x2: x(plateau), y1: 0, y2: 100 }));
  $("curve").replaceChildren(svg);
}

async function train(event) {
  event.preventDefault();
  running?.abort();
  const controller = (running = new AbortController());
  counts = [];
  $("merges").tBodies[0].replaceChildren();
  for (const name of ["curve", "curve-note"]) $(name).replaceChildren();
  for (const name of ["merges", "curve", "curve-note"]) $(name).hidden = false;
  $("trained").textContent = "…";
  const request = {
    text: state.text, vocab_size: $("vocab-size").valueAsNumber, pattern: $("pattern").value, ties: $("ties").value,
  };
  try {
    for await (const [name, value] of events("/api/train", request, controller.signal)) {
      if (controller !== running) return;
      if (name === "merges") add(value);
      else if (name === "plateau") flattens(value);
      else if (name === "model") trained(value);
      else $("trained").textContent = value;
    }
  } catch (error) {
    if (error.name !== "AbortError") $("trained").textContent = error.message;
  }
}

function flattens(plateau) {
  const from = `from ${figure(counts[0] ?? 0)} times down to ${figure(counts.at(-1) ?? 0)}`;
  $("curve").setAttribute("aria-label", `How often each merge occurred, ${from}`);
  $("curve-note").textContent = `How often each merge occurred, in their order: ${from}. Both axes are logarithmic${plateau === null ? "" : "; the counts flatten at the dashed line"}.`;
  draw(plateau);
  if (plateau !== null) $("trained").append(` · later merges (after ${figure(plateau)}) each replace few pairs`);
}

function trained(model) {
  hold(model);
  const use = () => {
    addColumn({ implementation: "compiled", model: model.model });
    $("tab-tokens").click();
  };
  $("trained").append(h("button", { type: "button", class: "plain", onclick: use }, "use as a column"),
    h("a", { class: "plain", href: `/api/models/${model.model}`, download: true }, "download"));
}

export function startTraining() {
  $("training").addEventListener("submit", train);
  $("patterns").replaceChildren(...choices.patterns.map((name) => h("option", { value: name })));
}
