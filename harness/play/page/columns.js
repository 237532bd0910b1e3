// The columns of the first tab: each asks for itself, so a slow one holds up no other, and shows only its newest answer.

import { account } from "./account.js";
import { encode } from "./api.js";
import { $, figure, fill, h, hex, plural, points } from "./dom.js";
import { choices, keep, state } from "./state.js";
import { TokenView } from "./tokens.js";

const MOST = 6, BUSY_MILLISECONDS = 1000, SHOWN_IDS = 2000;
let shown = [];
let text = "", bytes = new Uint8Array(), version = 0;
let openSteps = () => {};

class Column {
  constructor(chosen) {
    this.chosen = chosen;
    this.element = $("column").content.cloneNode(true).firstElementChild;
    const part = (name) => this.element.querySelector(`.${name}`);
    [this.figures, this.verdict, this.box, this.detail] = ["figures", "verdict", "text", "detail"].map(part);
    this.list = this.element.querySelector(".ids");
    this.list.addEventListener("toggle", () => this.showIds());
    this.list.querySelector("button").addEventListener("click", (event) => {
      event.preventDefault();
      navigator.clipboard.writeText(`[${this.answer?.ids.join(", ") ?? ""}]`).then(() => { event.target.textContent = "copied"; });
    });
    this.selects = [part("implementation"), part("model")];
    this.selects.forEach((select, k) => select.addEventListener("change", () => {
      this.chosen[["implementation", "model"][k]] = select.value;
      this.name();
      keep();
      this.answer = null;
      this.done = -1;
      this.update();
    }));
    part("remove").addEventListener("click", () => {
      state.columns = state.columns.filter((column) => column !== this.chosen);
      showColumns();
    });
    this.view = new TokenView(this.box, { point: pointed, choose: (view, index) => this.chooses(index) });
    this.answer = null;
    this.done = -1;
    this.running = false;
    this.name();
  }

  name() {
    fill(this.selects[0], choices.implementations, this.chosen.implementation);
    fill(this.selects[1], choices.models, this.chosen.model);
    this.box.setAttribute("aria-label", `Tokens of ${this.chosen.implementation} on ${this.chosen.model}`);
    this.element.setAttribute("aria-label", `${this.chosen.implementation} on ${this.chosen.model}`);
  }

  async update() {
    if (this.running) return;
    this.running = true;
    const waiting = setTimeout(() => this.element.classList.add("waiting"), 150);
    while (this.done !== version) {
      const asked = version, now = bytes, { implementation, model } = this.chosen;
      let answer;
      try {
        answer = await encode(this.chosen, text, state.special);
      } catch (error) {
        answer = { error: error.message, verdict: "error" };
      }
      // A newer text or choice waits: this answer is not shown.
      if (asked !== version || implementation !== this.chosen.implementation || model !== this.chosen.model) continue;
      if (answer.verdict === "busy") {
        this.verdict.textContent = answer.error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_MILLISECONDS));
        continue;
      }
      this.done = asked;
      this.answer = answer.error ? { ids: [], starts: [], ends: [], tokens: null, note: "", ...answer } : answer;
      this.view.show(this.answer, now);
      this.detail.replaceChildren();
      this.showIds();
    }
    clearTimeout(waiting);
    this.element.classList.remove("waiting");
    this.running = false;
    compareAll();
  }

  showIds() {
    const ids = this.answer?.ids ?? [];
    this.list.querySelector("button").textContent = "copy";
    const more = ids.length > SHOWN_IDS ? ` … (${figure(ids.length)})` : "";
    if (this.list.open) this.list.querySelector("code").textContent = ids.slice(0, SHOWN_IDS).join(" ") + more;
  }

  showFigures() {
    const { ids, seconds, error } = this.answer;
    const price = state.price === null ? "–" : figure((state.price * ids.length) / 1e6, 6).replace(/0+$/, "").replace(/\.$/, "");
    const figures = error ? {} : {
      tokens: figure(ids.length),
      "bytes/token": ids.length ? figure(bytes.length / ids.length, 2) : "–",
      time: `${figure(seconds * 1e3, seconds < 0.01 ? 2 : 0)} ms`,
      ...(state.price === null ? {} : { price }),
    };
    this.figures.replaceChildren(...Object.entries(figures).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  }

  showVerdict(difference) {
    const { error, verdict, note } = this.answer;
    const parts = [];
    if (error) parts.push(`${verdict === "error" ? "" : `${verdict}: `}${error}`);
    if (note) parts.push(note);
    if (difference?.count) {
      parts.push(`${plural(difference.count, "token")} ${difference.count === 1 ? "differs" : "differ"} from column 1`, h("button", {
        class: "plain", onclick: () => account(shown[0].chosen, this.chosen, text, bytes, difference.byte),
      }, "explain"));
    } else if (difference?.complete) parts.push("same as column 1");
    this.verdict.replaceChildren(...parts);
    this.verdict.classList.toggle("fault", !!error);
  }

  chooses(index) {
    const { view } = this;
    const known = index < view.known;
    const token = known || view.answer.tokens !== null ? view.bytesOf(index) : null;
    const [start, end] = known ? [view.starts[index], view.ends[index]] : [];
    const parts = [h("b", {}, `id ${view.ids[index]}`), ` · token ${index + 1} of ${figure(view.n)}`];
    if (token) parts.push(" · ", h("code", {}, token.length > 24 ? `${hex(token.subarray(0, 24))} …` : hex(token)));
    if (known) { // a token that cuts a character has it as a whole
      const last = points(bytes, 0, end), first = start < end ? points(bytes, 0, start + 1) - 1 : last;
      parts.push(` · bytes ${start}–${end}, characters ${first}–${last}`);
    } else parts.push(" · place in the text unknown");
    if (known) parts.push(h("button", { class: "plain", onclick: () => openSteps(this.chosen.model, this.pieceAt(index)) }, "merge by merge"));
    this.detail.replaceChildren(...parts);
    pointed(view, index);
    for (const other of shown) if (other !== this && known && other.answer) other.view.reveal(start, end);
    pointed(view, index);
  }

  // The text from the piece of a token on, as far as a stepper needs it.
  pieceAt(index) {
    const { view } = this;
    let first = index;
    while (first > 0 && !view.begins[first] && view.answer.pieces) first--;
    return new TextDecoder().decode(bytes.subarray(view.starts[first], view.starts[first] + 600)).replace(/\ufffd+$/, "");
  }
}

function pointed(view, index) {
  const known = index !== null && index < view.known;
  for (const column of shown) column.view.mark(known ? view.starts[index] : null, known ? view.ends[index] : null);
}

// What of a column is not as in the first: a flag for each token, their number, and the byte of the first.
function difference(first, other) {
  if (!first?.answer || !other.answer || first.answer.error || other.answer.error) return null;
  const same = first.chosen.model === other.chosen.model, a = first.view, b = other.view;
  const flags = new Uint8Array(b.n);
  let count = 0, byte = null;
  for (let j = 0, i = 0; j < b.known; j++) {
    while (i < a.known && a.starts[i] < b.starts[j]) i++;
    let k = i;
    while (k < a.known && a.starts[k] === b.starts[j] && !(a.ends[k] === b.ends[j] && (!same || a.ids[k] === b.ids[j]))) k++;
    if (k < a.known && a.starts[k] === b.starts[j]) continue;
    flags[j] = 1;
    byte ??= b.starts[j];
    count++;
  }
  return { flags, count, byte, complete: a.known === a.n && b.known === b.n };
}

function compareAll() {
  shown.forEach((column, k) => {
    if (!column.answer) return;
    const differing = k === 0 ? null : difference(shown[0], column);
    column.view.compare(differing?.flags ?? null);
    column.showFigures();
    column.showVerdict(differing);
  });
}

export function showColumns() {
  const kept = new Map(shown.map((column) => [column.chosen, column]));
  shown = state.columns.map((chosen) => kept.get(chosen) ?? new Column(chosen));
  $("columns").replaceChildren(...shown.map((column) => column.element));
  for (const column of shown) column.element.querySelector(".remove").hidden = shown.length === 1;
  $("add").disabled = shown.length >= MOST;
  keep();
  shown.forEach((column) => column.update());
  compareAll();
}

export function addColumn(chosen) {
  if (state.columns.length >= MOST) state.columns.pop();
  state.columns = [...state.columns, chosen];
  showColumns();
}

export function showText(newText, newBytes) {
  [text, bytes] = [newText, newBytes];
  version++;
  shown.forEach((column) => column.update());
}

// The text is the same, but how it is encoded is not.
export function encodeAgain() {
  version++;
  shown.forEach((column) => column.update());
}

export const showPrice = () => compareAll();
export const refreshChoices = () => shown.forEach((column) => column.name());
export const onSteps = (open) => { openSteps = open; };
