// The page of runs: its scheme, its folded parts, and data of tables to take away.

// --- scheme ---------------------------------------------------------------------------------------------------
const system = matchMedia("(prefers-color-scheme: dark)");
const toggle = document.getElementById("scheme");
const stored = (...values) => {
  try {
    return values.length ? localStorage.setItem("bpebench-scheme", ...values) : localStorage.getItem("bpebench-scheme");
  } catch {
    return null; // a page without storage forgets
  }
};
let scheme = ["light", "dark"].find((name) => name === stored());
function applyScheme() {
  if (scheme) document.documentElement.dataset.scheme = scheme;
  toggle.textContent = (scheme ?? (system.matches ? "dark" : "light")) === "dark" ? "Light theme" : "Dark theme";
}
toggle.hidden = false;
toggle.addEventListener("click", () => {
  scheme = toggle.textContent === "Dark theme" ? "dark" : "light";
  stored(scheme);
  applyScheme();
});
system.addEventListener("change", applyScheme);
applyScheme();

// --- folded parts: a link to one opens it, and paper shows them all ---------------------------------------------
function openTarget() {
  const target = /^#[\w-]+$/.test(location.hash) && document.querySelector(location.hash);
  const part = target && target.closest("details");
  if (part && !part.open) {
    part.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => document.querySelectorAll("details.part").forEach((part) => (part.open = true)));
openTarget();

// --- to take away -----------------------------------------------------------------------------------------------
function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function cellsOf(table) {
  const valueOf = (cell) => cell.dataset.value ?? cell.textContent.trim();
  const kept = [...table.tHead.rows[0].cells].map((cell) => !cell.classList.contains("dots"));
  // A cell that spans columns belongs to the last of them.
  const spread = (cell) => [...Array(cell.colSpan - 1).fill(""), valueOf(cell)];
  const of = (row) => [...row.cells].flatMap(spread).filter((_, i) => kept[i]);
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return { heads: of(table.tHead.rows[0]), rows: rows.map(of) };
}

const asCsv = ({ heads, rows }) =>
  [heads, ...rows].map((row) => row.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")).join("\r\n") + "\r\n";

function asJson({ heads, rows }) {
  const number = (cell) => (/^-?\d+(\.\d+)?(e-?\d+)?$/.test(cell) ? Number(cell) : cell);
  const keys = heads.map((head, i) => (heads.indexOf(head) === i && head ? head : `${head || "mark"} ${i + 1}`));
  return JSON.stringify(rows.map((row) => Object.fromEntries(row.map((cell, i) => [keys[i], number(cell)]))), null, 1) + "\n";
}

function offer(after, makers) {
  let line = after.nextElementSibling;
  while (line && !line.matches(".command") && line.matches(".note")) line = line.nextElementSibling;
  if (!line || !line.matches(".command")) {
    line = document.createElement("p");
    line.className = "command";
    after.after(line);
  }
  const box = document.createElement("span");
  box.className = "get";
  for (const [label, make] of makers) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", make);
    box.append(button);
  }
  line.append(box);
}

for (const table of document.querySelectorAll("main .scroll > table")) {
  const name = () => (table.dataset.name ?? table.id.replace("table-", "")).replace(/[^\w.-]+/g, "-");
  const makers = [
    ["CSV", () => save(`${name()}.csv`, "text/csv", asCsv(cellsOf(table)))],
    ["JSON", () => save(`${name()}.json`, "application/json", asJson(cellsOf(table)))],
  ];
  if (table.id === "view-table") makers.push(["SVG", () => save(`${name()}.svg`, "image/svg+xml", table.image())]);
  const box = table.parentElement;
  offer(box.closest(".data") ?? box, makers);
}
