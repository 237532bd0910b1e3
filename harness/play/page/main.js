// The page: what it begins with, its text and tabs, files that are dropped on it.

import { ask, json } from "./api.js";
import { addColumn, encodeAgain, onSteps, showColumns, showPrice, showText } from "./columns.js";
import { $, directionOf, fill, plural, points } from "./dom.js";
import { showLanguages } from "./languages.js";
import { choices, fits, keep, kept, state } from "./state.js";
import { showSteps, startSteps } from "./steps.js";
import { hold, startTraining } from "./train.js";

const MOST_BYTES = 2 ** 20;
const WELCOME = "Type or paste a text: it's cut into pieces, and their tokens are shown as runs.\nKitaplarımızdan öğrendiklerimiz – 1 234,50 € – 猫が好き 👩🏽‍🚀 שלום.";
const TABS = ["tokens", "steps", "train", "languages"];
const open = { tokens: () => {}, steps: () => showSteps(), train: () => {}, languages: () => showLanguages() };
const encoder = new TextEncoder();
let timer = null;

function complain(message) {
  $("message").textContent = message;
  $("message").hidden = !message;
}

function show(tab) {
  state.tab = tab;
  complain("");
  for (const name of TABS) {
    const chosen = name === tab;
    $(name).hidden = !chosen;
    $(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    $(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
  keep();
}

function setSpecial(special) {
  state.special = $("special").checked = special;
  encodeAgain();
  keep();
}

function textChanged() {
  const text = $("text").value, bytes = encoder.encode(text);
  const tooLong = bytes.length > MOST_BYTES;
  complain(tooLong ? `The text has ${plural(bytes.length, "byte")}; at most ${plural(MOST_BYTES, "byte")} are encoded here.` : "");
  if (tooLong) return;
  const n_characters = points(bytes, 0, bytes.length);
  state.text = text.toWellFormed(); // as it was encoded: a lone surrogate is U+FFFD
  $("text").dir = directionOf(text); // `auto` takes seconds where a text is long
  $("size").textContent = `${plural(bytes.length, "byte")}, ${plural(n_characters, "character")}${fits() ? "" : "; too long to share as a link"}`;
  showText(state.text, bytes);
  if (state.tab === "steps") showSteps();
  keep();
}

function restore(saved) {
  Object.assign(state, saved);
  $("text").value = state.text;
  $("price").value = state.price ?? "";
  $("special").checked = state.special;
  showColumns();
  textChanged();
  show(state.tab);
  open[state.tab]();
}

async function addFile(file) {
  if (!file) return;
  complain("");
  try {
    const response = await ask(`/api/models?label=${encodeURIComponent(file.name.slice(0, 80))}`, file, "application/octet-stream");
    const model = await response.json();
    hold(model);
    addColumn({ implementation: "compiled", model: model.model });
    if (model.notes.length) complain(`${file.name}: ${model.notes.join("; ")}`);
  } catch (error) {
    complain(`${file.name}: ${error.message}`);
  }
}

function listen() {
  $("text").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(textChanged, 20 + $("text").value.length / 25_000);
  });
  $("price").addEventListener("input", () => {
    const price = $("price").valueAsNumber;
    state.price = price >= 0 ? price : null;
    showPrice();
    keep();
  });
  $("sample").addEventListener("change", async () => {
    const text = (await json("/api/samples"))[$("sample").value];
    if (text === undefined) return;
    $("text").value = text;
    textChanged();
  });
  $("template").addEventListener("change", async () => {
    const template = (await json("/templates.json"))[$("template").value];
    $("template").value = "";
    if (template === undefined) return;
    $("text").value = template.replace("{text}", () => $("text").value);
    setSpecial(true);
    textChanged();
  });
  $("special").addEventListener("change", () => setSpecial($("special").checked));
  $("hub").addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = event.target.elements.name.value;
    complain(`asking the hub for ${name} …`);
    try {
      const model = await json("/api/hub", { name });
      hold(model);
      addColumn({ implementation: "compiled", model: model.model });
      complain("");
    } catch (error) {
      complain(error.message);
    }
  });
  $("add").addEventListener("click", () => addColumn({ ...state.columns.at(-1) }));
  $("choose").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", async () => {
    await addFile($("file").files[0]);
    $("file").value = "";
  });
  for (const [k, name] of TABS.entries()) {
    $(`tab-${name}`).addEventListener("click", (event) => {
      show(name);
      open[name]();
      if (name === "steps" && event.detail > 0) $("play").focus(); // with the mouse: the keys then move the steps
    });
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: TABS.length - 1 }[event.key];
      if (to === undefined) return;
      const next = $(`tab-${TABS[(to + TABS.length) % TABS.length]}`);
      next.click();
      next.focus();
      event.preventDefault();
    });
  }
  document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && document.body.classList.remove("dropping"));
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    addFile(event.dataTransfer.files[0]);
  });
  addEventListener("hashchange", () => { const saved = kept(); if (saved) restore(saved); });
  onSteps((model, text) => { show("steps"); showSteps(model, text); $("play").focus(); });
}

async function start() {
  Object.assign(choices, await json("/api/choices"));
  const samples = await json("/api/samples");
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const label = (name) => (name.length === 2 ? names.of(name) : name);
  const entries = Object.keys(samples).map((name) => ({ name, label: label(name) }));
  fill($("sample"), [{ name: "", label: "–" }, ...entries.sort((a, b) => a.label.localeCompare(b.label))], "");
  const templates = Object.keys(await json("/templates.json")).map((name) => ({ name, label: name }));
  fill($("template"), [{ name: "", label: "–" }, ...templates], "");
  listen();
  startSteps();
  startTraining();
  const { beginning } = choices;
  restore(kept() ?? { text: beginning.text ?? WELCOME, columns: beginning.columns, price: null, special: false, tab: "tokens" });
  if (!choices.models.length) complain("No vocabulary yet: run `bpebench fetch`, drop a model file, or train one.");
  document.body.dataset.ready = "";
}

start().catch((error) => complain(error.message));
