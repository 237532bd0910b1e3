// One sentence in many languages under every column: its tokens, and how many times those of English.

import { json } from "./api.js";
import { $, figure, h } from "./dom.js";
import { state } from "./state.js";

const known = new Map();
let sentences = null, asked = 0;
const names = new Intl.DisplayNames(["en"], { type: "language" });

async function count(column, language) {
  const key = JSON.stringify([column.implementation, column.model, language]);
  if (!known.has(key)) {
    const { columns: [answer] } = await json("/api/encode", { text: sentences[language], columns: [column], pieces: false });
    if (answer.error) throw new Error(answer.error);
    known.set(key, answer.ids.length);
  }
  return known.get(key);
}

export async function showLanguages() {
  const number = ++asked, columns = state.columns.map((column) => ({ ...column }));
  sentences ??= await json("/sentences.json");
  const cells = new Map();
  let most = 0; // one scale for all columns
  const rows = Object.entries(sentences).map(([language, sentence]) => {
    const parts = columns.map(() => h("td", {}, "…"));
    cells.set(language, parts);
    return h("tr", {}, h("th", { scope: "row", title: sentence }, names.of(language)), ...parts);
  });
  const heads = columns.map(({ implementation, model }) => h("th", { scope: "col" }, `${implementation} on ${model}`));
  $("bars").tHead.replaceChildren(h("tr", {}, h("th", { scope: "col" }, "language"), ...heads));
  $("bars").tBodies[0].replaceChildren(...rows);
  await Promise.all(columns.map(async (column, k) => {
    const counts = {};
    try {
      for (const language of Object.keys(sentences)) counts[language] = await count(column, language);
    } catch (error) {
      for (const [, parts] of cells) parts[k].textContent = "–";
      cells.get("en")[k].textContent = error.message;
      return;
    }
    if (number !== asked) return;
    most = Math.max(most, ...Object.values(counts));
    for (const [language, parts] of cells) {
      const n = counts[language], premium = `${figure(n / counts.en, 2)} ×`;
      const label = `${names.of(language)}: ${n} tokens, ${premium} English`;
      parts[k].replaceChildren(h("meter", { min: 0, max: most, value: n, "aria-label": label }), `${n} · ${premium}`);
    }
    for (const meter of $("bars").querySelectorAll("meter")) meter.max = most;
  }));
}
