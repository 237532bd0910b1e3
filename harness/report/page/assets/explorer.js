// The explorer: runs, workloads and implementations to choose, drawn as a table with its dots and intervals.
// All figures come written from the records; this script chooses, orders and draws them.

// --- drawing ----------------------------------------------------------------------------------------------------
const element = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const shape = (tag, attributes, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
};
const value = (written) => (written === null || written === undefined ? NaN : Number(written.replaceAll(",", "")));

function scaleOf(values) {
  const finite = values.filter((number) => number > 0 && Number.isFinite(number));
  const low = Math.min(...finite) / 1.1;
  const high = Math.max(...finite) * 1.1;
  const at = (number) => (100 * Math.log(number / low)) / Math.log(high / low);
  for (const steps of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.1, 1.2, 1.3, 1.4, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      ticks.push(...steps.map((step) => Number(`${step}e${power}`)).filter((tick) => tick > low && tick < high));
    }
    if (ticks.length >= 3 || steps.length > 8) return { at, ticks: ticks.filter((_, i) => i % Math.ceil(ticks.length / 5) === 0) };
  }
  return { at, ticks: [] };
}

// The shapes of the kinds in every chart of a report, around (0, 0).
const SHAPES = {
  pure: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z",
  compiled: "M0-5.8 5.8 0 0 5.8-5.8 0Z",
  production: "M-4.2-4.2H4.2V4.2H-4.2Z",
  peer: "M0-5.2 5.2 4.2H-5.2Z",
};

function marksOf(row, scale, relative) {
  const shapes = scale.ticks.map((tick) => shape("line", { class: "grid", x1: `${scale.at(tick)}%`, x2: `${scale.at(tick)}%`, y1: 0, y2: "100%" }));
  if (relative) shapes.push(shape("line", { class: "one", x1: `${scale.at(1)}%`, x2: `${scale.at(1)}%`, y1: 0, y2: "100%" }));
  if (value(row.figure) > 0) {
    const y = "50%";
    shapes.push(shape("line", { class: "range", x1: `${scale.at(value(row.low))}%`, x2: `${scale.at(value(row.high))}%`, y1: y, y2: y }));
    const dot = shape("svg", { class: "dot", x: `${scale.at(value(row.figure))}%`, y, overflow: "visible" });
    dot.append(shape("path", { d: SHAPES[row.kind] }));
    shapes.push(dot);
  }
  return shapes;
}

function viewImage(table) {
  // The view as one image: names, dots with their intervals, figures.
  const rows = [...table.tBodies[0].rows];
  const [width, step, left, plot] = [760, 22, 150, 480];
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const image = shape("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: step * (rows.length + 3), viewBox: `0 0 ${width} ${step * (rows.length + 3)}`, "font-family": "sans-serif", "font-size": 12 });
  image.append(shape("rect", { width: "100%", height: "100%", fill: colour("ground") }));
  image.append(shape("text", { x: 8, y: 18, fill: colour("ink"), "font-weight": 600 }, document.getElementById("view-title").textContent));
  const across = (percent) => left + (plot * parseFloat(percent)) / 100;
  const lift = (svg, y, kind) => {
    for (const part of svg?.children ?? []) {
      const copy = shape(part.tagName, { fill: colour(kind ?? "quiet") });
      if (part.tagName === "text") {
        Object.entries({ x: across(part.getAttribute("x")), y: y + 4, "text-anchor": "middle" }).forEach(([k, v]) => copy.setAttribute(k, v));
        copy.textContent = part.textContent;
      } else if (part.matches(".dot")) {
        copy.append(shape("path", { d: part.firstChild.getAttribute("d") }));
        Object.entries({ x: across(part.getAttribute("x")), y, overflow: "visible" }).forEach(([k, v]) => copy.setAttribute(k, v));
      } else {
        const range = part.classList.contains("range");
        const half = range ? 0 : step / 2;
        Object.entries({ x1: across(part.getAttribute("x1")), x2: across(part.getAttribute("x2")), y1: y - half, y2: y + half, stroke: colour(range ? kind : "line"), "stroke-width": range ? 3 : 1, opacity: range ? 0.5 : 1 }).forEach(([k, v]) => copy.setAttribute(k, v));
      }
      image.append(copy);
    }
  };
  lift(table.tHead.querySelector(".dots svg"), step * 1.6);
  rows.forEach((row, i) => {
    const y = step * (i + 2.5);
    const ink = colour(row.classList.contains("failed") ? "quiet" : "ink");
    image.append(shape("text", { x: 8, y: y + 4, fill: ink }, row.cells[0].textContent));
    lift(row.querySelector(".dots svg"), y, [...row.classList].find((name) => name.startsWith("kind-")));
    const failed = row.classList.contains("failed");
    const label = row.cells[failed ? 1 : 2].textContent;
    image.append(shape("text", { x: failed ? left : left + plot + 16, y: y + 4, fill: ink }, label.length > 90 ? `${label.slice(0, 90)}…` : label));
  });
  return new XMLSerializer().serializeToString(image);
}

// --- the explorer ----------------------------------------------------------------------------------------------
const form = document.getElementById("view");
if (form) {
  const data = JSON.parse(document.getElementById("view-data").textContent);
  const table = document.getElementById("view-table");
  const controls = Object.fromEntries([...form.querySelectorAll("select")].map((select) => [select.name, select]));
  const choices = form.querySelector(".choices");
  const runs = new Map(data.runs.map((run) => [run.id, run]));
  let state = {};
  table.image = () => viewImage(table);

  const begin = () => {
    const first = runs.get(data.main).workloads.find(({ name }) => name === data.begin);
    return { run: data.main, threads: "", work: first.work, model: first.model, text: first.text, as: "figures", base: "", only: null };
  };
  const restored = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    const saved = begin();
    for (const name of ["run", "threads", "work", "model", "text", "as", "base"]) if (given.has(name)) saved[name] = given.get(name);
    if (!runs.has(saved.run)) saved.run = data.main;
    if (given.has("only")) saved.only = new Set(given.getAll("only"));
    return saved;
  };
  const addressed = () => {
    const kept = new URLSearchParams();
    const plain = begin();
    for (const name of ["run", "threads", "work", "model", "text", "as", "base"]) {
      if (state[name] !== plain[name] || ["run", "work", "model", "text"].includes(name)) kept.set(name, state[name]);
    }
    for (const name of state.only ?? []) kept.append("only", name);
    return `#${kept}`;
  };

  function fill(name, options, groups) {
    const select = controls[name];
    if (!options.some(([key]) => key === state[name])) state[name] = options[0]?.[0] ?? "";
    const items = options.map(([key, label]) => element("option", key === state[name] ? { value: key, selected: "" } : { value: key }, label));
    if (groups) {
      const boxes = new Map();
      items.forEach((item, i) => {
        if (!boxes.has(groups[i])) boxes.set(groups[i], element("optgroup", { label: groups[i] }));
        boxes.get(groups[i]).append(item);
      });
      select.replaceChildren(...boxes.values());
    } else select.replaceChildren(...items);
    select.disabled = options.length < 2;
  }
  const distinct = (values) => [...new Set(values)].map((text) => [text, text || "none"]);

  // Narrow the choices one after another; a choice that is no longer available becomes the first available one.
  function narrow() {
    fill("run", data.runs.map((run) => [run.id, run.label]), data.runs.map((run) => data.machines[run.machine]));
    const run = runs.get(state.run);
    const counts = [...new Set(run.workloads.map(({ threads }) => threads > 1))];
    fill("threads", counts.length < 2 ? [["", counts[0] ? "several" : "one"]] : [["", "one or several"], ["one", "one"], ["several", "several"]]);
    let left = run.workloads.filter((workload) => !state.threads || workload.threads > 1 === (state.threads === "several"));
    fill("work", distinct(left.map((workload) => workload.work)));
    left = left.filter((workload) => workload.work === state.work);
    fill("model", distinct(left.map((workload) => workload.model)));
    left = left.filter((workload) => workload.model === state.model);
    fill("text", distinct(left.map((workload) => workload.text)));
    const workload = left.find((workload) => workload.text === state.text);
    fill("as", workload.ranked.length > 1 ? [["figures", workload.unit], ["relative", "× the baseline"]] : [["figures", workload.unit]]);
    const usual = ["tiktoken", "tokenizers"].find((name) => workload.ranked.includes(name)) ?? workload.ranked[0] ?? "";
    if (!workload.ranked.includes(state.base)) state.base = usual;
    fill("base", workload.ranked.map((name) => [name, name]));
    controls.base.disabled = state.as !== "relative";
    return [run, workload];
  }

  function rowsOf(workload) {
    const base = workload.ranked.indexOf(state.base);
    const rows = workload.rows.map(([name, figure, low, high, ratio, alike, calls, verdict]) => {
      const row = { name, kind: data.kinds[name], figure, low, high, ratio, mark: alike ? "≈ " : "", calls, verdict, failed: figure === null };
      if (state.as !== "relative") return row;
      const place = workload.ranked.indexOf(name);
      if (place < 0) return { ...row, figure: null, mark: "" };
      const written = workload.ratios[base][place];
      [row.figure, row.low, row.high] = written.replace("≈", "").split(" ");
      row.mark = written.startsWith("≈") ? "≈ " : "";
      return row;
    });
    if (state.as === "relative") rows.sort((a, b) => (value(b.figure) || -1) - (value(a.figure) || -1));
    return rows;
  }

  function draw() {
    const [run, workload] = narrow();
    const rows = rowsOf(workload);
    const names = rows.map((row) => row.name);
    const chosen = rows.filter((row) => !state.only || state.only.has(row.name));
    const relative = state.as === "relative";
    const scale = scaleOf(rows.flatMap((row) => [value(row.low), value(row.high), value(row.figure)]));
    const axis = shape("svg", { "aria-hidden": "true" });
    axis.append(...scale.ticks.map((tick) => shape("text", { x: `${scale.at(tick)}%`, y: "75%", "text-anchor": "middle" }, tick.toLocaleString("en-US", { maximumSignificantDigits: 3 }))));
    const better = relative ? "higher" : workload.unit === "MB/s" ? "higher" : "lower";
    const unit = relative ? `× ${state.base}` : workload.unit;
    const noted = chosen.some((row) => !row.failed && row.verdict);
    const called = chosen.some((row) => row.calls !== "—"); // median and 99th percentile of single calls
    const head = element("tr", {}, element("th", { scope: "col" }, "implementation"), element("th", { scope: "col", class: "dots" }, element("span", { class: "visually-hidden" }, "drawn, logarithmic"), axis));
    head.append(element("th", { scope: "col", class: "right" }, unit));
    for (const name of ["95 % interval", ...(relative ? [] : ["time × best"]), ...(called ? ["a call, µs: median · 99 %"] : [])]) head.append(element("th", { scope: "col", class: "right aside" }, name));
    if (noted || chosen.every((row) => row.failed)) head.append(element("th", { scope: "col" }, "note"));
    table.tHead.replaceChildren(head);
    table.tBodies[0].replaceChildren(...chosen.map((row) => {
      const svg = shape("svg", { "aria-hidden": "true" });
      svg.append(...marksOf(row, scale, relative));
      const shown = row.figure === null ? "—" : `${row.mark}${row.figure}`;
      const range = row.figure === null ? "—" : `${row.low}–${row.high}`;
      const marks = [`kind-${data.kinds[row.name]}`, row.failed && "failed", relative && row.name === state.base && "base"];
      const line = element("tr", { class: marks.filter(Boolean).join(" ") }, element("th", { scope: "row", title: data.kinds[row.name] }, row.name), element("td", { class: "dots" }, svg));
      if (row.failed) {
        line.lastChild.remove();
        line.append(element("td", { class: "why", colspan: head.cells.length - 1 }, row.verdict));
        return line;
      }
      line.append(element("td", { class: "right figure" }, shown), element("td", { class: "right aside" }, range));
      if (!relative) line.append(element("td", { class: "right aside" }, row.ratio));
      if (called) line.append(element("td", { class: "right aside" }, row.calls));
      if (noted) line.append(element("td", { class: "long" }, row.verdict));
      return line;
    }));
    table.caption.textContent = `${workload.name}, run ${run.id}, ${unit}`;
    table.dataset.name = `${run.id}-${workload.name}${relative ? `-to-${state.base}` : ""}`;
    document.getElementById("view-title").textContent = `${workload.name}: ${relative ? `times as fast as ${state.base}` : `${workload.unit}, ${better} is better`} · ${run.label}`;
    document.getElementById("view-about").textContent = workload.about;
    document.getElementById("view-command").textContent = run.command;
    document.getElementById("view-claimed").textContent = run.claimed;
    document.getElementById("view-chosen").textContent = `${chosen.length} of ${names.length}`;
    choices.replaceChildren(...[...names].sort().map((name) => {
      const box = element("input", { type: "checkbox", value: name });
      box.checked = !state.only || state.only.has(name);
      return element("label", {}, box, name);
    }));
  }
  const keep = () => history.replaceState(null, "", addressed());

  form.addEventListener("change", (event) => {
    if (event.target.matches("select")) state[event.target.name] = event.target.value;
    else {
      const boxes = [...choices.querySelectorAll("input")];
      const on = boxes.filter((box) => box.checked).map((box) => box.value);
      state.only = on.length === boxes.length ? null : new Set(on);
    }
    const at = event.target.value;
    draw();
    keep();
    if (!event.target.isConnected) [...choices.querySelectorAll("input")].find((box) => box.value === at)?.focus();
  });
  form.addEventListener("click", (event) => {
    if (!event.target.matches("button")) return;
    state.only = event.target.value === "all" ? null : new Set();
    draw();
    keep();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => {
    if (location.hash.includes("=") || !location.hash) {
      state = restored();
      draw();
    }
  });
  state = restored();
  form.hidden = false;
  document.getElementById("view-kinds").hidden = false;
  draw();
}
