// Training on the text of the page: the merges, how often each occurred, and the model as a column.

import { json } from "./api.js";
import { addColumn, refreshChoices } from "./columns.js";
import { $, figure, h, visible } from "./dom.js";
import { choices, state } from "./state.js";

const SHOWN = 300;
const SVG = "http://www.w3.org/2000/svg";
let asked = 0;

export function hold(model) {
  choices.models = [...choices.models.filter(({ name }) => name !== model.model), { name: model.model, label: model.label }];
  refreshChoices();
}

function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// Counts by merge, both axes logarithmic.
function draw(counts) {
  const x = (k) => (100 * Math.log(k + 1)) / Math.log(counts.length);
  const y = (count) => 100 - (100 * Math.log(Math.max(1, count))) / Math.log(Math.max(2, counts[0]));
  const line = counts.map((count, k) => `${k ? "L" : "M"}${x(k).toFixed(2)} ${y(count).toFixed(2)}`).join("");
  const svg = shape("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  if (counts.length > 1) svg.append(shape("path", { d: line }));
  $("curve").replaceChildren(svg);
  const from = `from ${figure(counts[0] ?? 0)} times down to ${figure(counts.at(-1) ?? 0)}`;
  $("curve").setAttribute("aria-label", `How often each merge occurred, ${from}`);
  $("curve-note").textContent = `How often each merge occurred, in their order: ${from}. Both axes are logarithmic.`;
}

async function train(event) {
  event.preventDefault();
  const number = ++asked;
  for (const name of ["merges", "curve", "curve-note"]) $(name).hidden = true;
  $("trained").textContent = "…";
  const request = {
    text: state.text, vocab_size: $("vocab-size").valueAsNumber, pattern: $("pattern").value, ties: $("ties").value,
  };
  try {
    const answer = await json("/api/train", request);
    if (number === asked) show(answer);
  } catch (error) {
    if (number === asked) $("trained").textContent = error.message;
  }
}

function show({ merges, model }) {
  $("merges").tBodies[0].replaceChildren(...merges.slice(0, SHOWN).map(([left, right, token, count], k) =>
    h("tr", {}, h("td", { class: "number" }, figure(k + 1)),
      ...[left, right, token].map((part) => h("td", {}, ...visible(part))), h("td", { class: "number" }, figure(count)))));
  draw(merges.map(([, , , count]) => count));
  for (const name of ["merges", "curve", "curve-note"]) $(name).hidden = false;
  hold(model);
  const use = () => {
    addColumn({ implementation: "compiled", model: model.model });
    $("tab-tokens").click();
  };
  $("trained").replaceChildren(`${figure(merges.length)} merges `, h("button", { type: "button", class: "plain", onclick: use }, "use as a column"),
    h("a", { class: "plain", href: `/api/models/${model.model}`, download: true }, "download"));
}

export function startTraining() {
  $("training").addEventListener("submit", train);
  $("patterns").replaceChildren(...choices.patterns.map((name) => h("option", { value: name })));
}
