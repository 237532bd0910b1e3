// One piece, merged step by step by several algorithms side by side.

import { json } from "./api.js";
import { $, fill, h, visible } from "./dom.js";
import { choices, state } from "./state.js";

const PACE = 700;
let chosen = { model: null, text: "", piece: 0 };
let derivations = [], at = 0, last = 0, timer = null, asked = 0;

const firstChange = (before, after) => {
  const i = after.findIndex((id, k) => id !== before[k]);
  return i < 0 && before.length !== after.length ? after.length - 1 : i;
};

function symbols(derivation, k) {
  const here = derivation.states[k], step = derivation.steps[k], next = derivation.states[k + 1];
  const changed = k > 0 ? firstChange(derivation.states[k - 1].ids, here.ids) : -1;
  const pair = step?.action === "merge" ? firstChange(here.ids, next.ids) : -1;
  const ranked = derivation.steps.some(({ action }) => action === "merge"); // the others look at no pairs
  return here.symbols.flatMap((symbol, i) => {
    const shown = h("span", { class: i === changed ? "symbol changed" : "symbol" }, ...visible(symbol));
    if (i + 1 === here.symbols.length) return [shown];
    const rank = ranked ? here.ranks[i] : null;
    const mark = h("span", { class: i === pair ? "rank chosen" : "rank" }, rank === null ? "" : String(rank));
    if (rank !== null) mark.title = `${symbol} + ${here.symbols[i + 1]}: rank ${rank}`;
    return [shown, mark];
  });
}

function stepText(derivation, k) {
  const step = derivation.steps[k - 1];
  const end = k === derivation.steps.length ? ` — done: ${derivation.ids.length === 1 ? "1 token" : `${derivation.ids.length} tokens`}` : "";
  if (!step) return [derivation.steps.length ? "the base symbols" : `nothing to do${end}`];
  const result = ["‘", ...visible(step.result), "’"];
  const note = step.note ? ` (${step.note})` : "";
  const rank = step.rank === null || step.rank === undefined ? "" : `, rank ${step.rank}`;
  if (step.action === "merge") return [`step ${k}: ‘`, ...visible(step.left), "’ + ‘", ...visible(step.right), "’ → ", ...result, rank, note, end];
  const verb = { longest: "the longest token here is ", take: "takes ", back: "undoes ", "whole piece": "the whole piece is a token, " }[step.action];
  return [`step ${k}: ${verb}`, ...result, rank, note, end];
}

function draw() {
  const exact = derivations.find(({ algorithm }) => algorithm === "heap");
  $("derivations").replaceChildren(...derivations.map((derivation) => {
    const k = Math.min(at, derivation.steps.length);
    const differs = exact && String(exact.ids) !== String(derivation.ids);
    return h("article", { class: "derivation", "aria-label": derivation.algorithm },
      h("h2", {}, derivation.algorithm),
      h("p", { class: "quiet" }, derivation.way),
      h("div", { class: "symbols" }, ...symbols(derivation, k)),
      h("p", { class: "step-text" }, ...stepText(derivation, k)),
      differs ? h("p", { class: "quiet differing" }, `ends in different tokens than the heap: ${derivation.ids.join(" ")}`)
        : h("p", { class: "quiet" }, `ends in ${derivation.ids.join(" ")}`),
      derivation.reproduces === false ? h("p", { class: "differing" }, "the implementation itself gives different ids") : "",
    );
  }));
  $("scrubber").max = last;
  $("scrubber").value = at;
  $("step").textContent = `${at} of ${last}`;
  $("back").disabled = at === 0;
  $("forth").disabled = at === last;
}

function go(to) {
  at = Math.max(0, Math.min(last, to));
  if (at === last) stop();
  draw();
}

function stop() {
  clearInterval(timer);
  timer = null;
  $("play").setAttribute("aria-pressed", "false");
  $("play").textContent = "Play";
}

function playOrStop() {
  if (timer !== null) return stop();
  if (at === last) go(0);
  timer = setInterval(() => go(at + 1), PACE);
  $("play").setAttribute("aria-pressed", "true");
  $("play").textContent = "Stop";
}

async function load() {
  stop();
  const number = ++asked;
  $("message").hidden = true;
  try {
    const answer = await json("/api/steps", { text: chosen.text, model: chosen.model, piece: chosen.piece });
    if (number !== asked) return;
    chosen.piece = answer.piece;
    $("message").textContent = answer.note;
    $("message").hidden = !answer.note;
    derivations = answer.derivations;
    last = Math.max(0, ...derivations.map(({ steps }) => steps.length));
    fill($("steps-piece"), answer.pieces.slice(0, 400).map((piece, k) => ({ name: String(k), label: `${k + 1}: ${JSON.stringify(piece.slice(0, 60))}` })), String(chosen.piece));
    go(0);
  } catch (error) {
    if (number !== asked) return;
    derivations = [];
    last = 0;
    go(0);
    $("message").textContent = error.message;
    $("message").hidden = false;
  }
}

const beginning = () => {
  const bytes = new TextEncoder().encode(state.text.slice(0, 1000));
  return new TextDecoder().decode(bytes.subarray(0, 2000)).replace(/\ufffd+$/, "");
};

export function showSteps(model, text) {
  chosen = { model: model ?? chosen.model ?? state.columns[0]?.model, text: text ?? beginning(), piece: text === undefined ? null : 0 };
  fill($("steps-model"), choices.models, chosen.model);
  if (chosen.text && chosen.model) load();
  else {
    derivations = [];
    last = 0;
    go(0);
  }
}

export function startSteps() {
  $("steps-model").addEventListener("change", (event) => { chosen = { ...chosen, model: event.target.value, piece: 0 }; load(); });
  $("steps-piece").addEventListener("change", (event) => { chosen.piece = Number(event.target.value); load(); });
  $("back").addEventListener("click", () => { stop(); go(at - 1); });
  $("forth").addEventListener("click", () => { stop(); go(at + 1); });
  $("play").addEventListener("click", playOrStop);
  $("scrubber").addEventListener("input", (event) => { stop(); go(event.target.valueAsNumber); });
  document.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    if ($("steps").hidden || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, textarea, [role=tab]")) return;
    if (event.key in moves) { stop(); go(moves[event.key]); }
    else if (event.key === " " && !event.target.closest("button")) playOrStop();
    else return;
    event.preventDefault();
  });
}
