// The tokens of one column as runs of text. Only blocks near the window have elements, so a million bytes scroll.

import { directionOf, fromHex, h, shownBytes } from "./dom.js";

const FEWEST = 120, MOST = 280, NEWLINE = 10;
let n_views = 0;

export class TokenView {
  // `on.point(view, index | null)` when a token is pointed at, `on.choose(view, index)` when it is made the active one.
  constructor(box, on) {
    this.box = box;
    this.on = on;
    this.name = `t${n_views++}`;
    this.marked = [];
    this.active = -1;
    this.brought = null; // the token to stay in view while blocks around it get their height
    for (const name of ["wheel", "pointerdown", "touchmove"]) box.addEventListener(name, () => { this.brought = null; }, { passive: true });
    this.clear();
    this.watcher = new IntersectionObserver((entries) => this.#seen(entries), { root: box, rootMargin: "600px" });
    box.addEventListener("pointerover", (event) => on.point(this, this.#indexOf(event.target)));
    box.addEventListener("pointerleave", () => on.point(this, null));
    box.addEventListener("click", (event) => {
      const index = this.#indexOf(event.target);
      if (index !== null) this.choose(index);
    });
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("focus", () => this.active < 0 && this.n > 0 && this.choose(0));
  }

  clear() {
    this.n = 0;
    this.known = 0;
    this.blocks = [];
    this.box.replaceChildren();
  }

  show(answer, bytes) {
    const n = (this.n = answer.ids.length);
    Object.assign(this, { answer, bytes, ids: answer.ids, active: Math.min(this.active, n - 1), differs: null, brought: null });
    const unknown = answer.spans.indexOf(null);
    const known = (this.known = unknown < 0 ? n : unknown);
    this.starts = new Int32Array(known);
    this.ends = new Int32Array(known);
    for (let i = 0; i < known; i++) {
      const span = answer.spans[i];
      this.starts[i] = span[0];
      this.ends[i] = span[1];
    }
    this.begins = new Uint8Array(n);
    for (const i of answer.pieces ?? []) this.begins[i] = 1;
    this.#layOut();
  }

  // Mark tokens whose flag is set; `flags` is null where nothing is compared.
  compare(flags) {
    this.differs = flags;
    for (const block of this.blocks) {
      for (const element of block.element.children) element.classList.toggle("differs", !!flags?.[element.dataset.i]);
    }
  }

  bytesOf(index) {
    if (this.answer.tokens !== null) return fromHex(this.answer.tokens[index]);
    return this.bytes.subarray(this.starts[index], this.ends[index]);
  }

  // The first and the end token that overlap these bytes of the text.
  overlapping(start, end) {
    const first = this.#search((i) => this.ends[i] > start || (this.ends[i] === start && start === end));
    let last = first;
    while (last < this.known && this.starts[last] < Math.max(end, start + 1)) last++;
    return [first, last];
  }

  mark(start, end) {
    for (const element of this.marked) element.classList.remove("same");
    this.marked = [];
    if (start === null) return;
    const [first, last] = this.overlapping(start, end);
    for (let i = first; i < last; i++) {
      const element = this.#element(i);
      if (element) this.marked.push(element);
    }
    for (const element of this.marked) element.classList.add("same");
  }

  // Bring the tokens of these bytes into view.
  reveal(start, end) {
    const [first] = this.overlapping(start, end);
    if (first < this.known) this.#bring(first);
  }

  choose(index) {
    this.#element(this.active)?.classList.remove("active");
    this.active = index;
    const element = this.#bring(index);
    element.classList.add("active");
    this.box.setAttribute("aria-activedescendant", element.id);
    this.on.choose(this, index);
  }

  // --- layout ---------------------------------------------------------------------------------------------------------

  #layOut() {
    const scrolled = this.box.scrollTop;
    this.watcher.disconnect();
    this.box.removeAttribute("aria-activedescendant");
    this.blocks = [];
    const width = Math.max(20, this.box.clientWidth / 9), line = 29;
    for (let first = 0; first < this.n;) {
      let end = Math.min(first + FEWEST, this.n);
      while (end < this.n && end < first + MOST && !this.#endsLine(end - 1)) end++;
      const n_bytes = end <= this.known ? this.ends[end - 1] - this.starts[first] : 4 * (end - first);
      const element = h("div", { role: "none" });
      element.style.height = `${line * Math.ceil(n_bytes / width)}px`;
      this.blocks.push({ first, end, element, filled: false });
      first = end;
    }
    this.byElement = new Map(this.blocks.map((block) => [block.element, block]));
    if (this.blocks.length < 4) this.blocks.forEach((block) => this.#fill(block));
    this.box.replaceChildren(...this.blocks.map((block) => block.element));
    this.blocks.forEach((block) => this.watcher.observe(block.element));
    this.box.scrollTop = scrolled;
  }

  #endsLine(index) {
    return index < this.known && this.bytes[this.ends[index] - 1] === NEWLINE;
  }

  #seen(entries) {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      const block = this.byElement.get(target);
      if (!block) continue;
      if (isIntersecting) this.#fill(block);
      else if (block.filled && this.blocks.length >= 4 && !(this.active >= block.first && this.active < block.end)) {
        target.style.height = `${boundingClientRect.height}px`;
        target.replaceChildren();
        block.filled = false;
      }
    }
    if (this.brought !== null) this.#bring(this.brought);
  }

  #fill(block) {
    if (block.filled) return;
    block.filled = true;
    const parts = [];
    for (let i = block.first; i < block.end; i++) parts.push(this.#token(i));
    block.element.replaceChildren(...parts);
    block.element.style.height = "";
    if (block.first < this.known) { // by the text, as bytes shown in hex would count as Latin
      const end = this.ends[Math.min(block.end, this.known) - 1];
      block.element.dir = directionOf(new TextDecoder().decode(this.bytes.subarray(this.starts[block.first], end)));
    }
  }

  #token(i) {
    const bytes = i < this.known || this.answer.tokens !== null ? this.bytesOf(i) : null;
    const nodes = bytes?.length ? shownBytes(bytes) : [h("code", {}, bytes === null || this.answer.tokens?.[i] === "" ? "unknown" : "∅")];
    const names = ["t", `c${i % 5}`, this.begins[i] && "piece", this.differs?.[i] && "differs", i === this.active && "active"];
    return h("span", { id: `${this.name}-${i}`, role: "option", class: names.filter(Boolean).join(" "), "data-i": i }, ...nodes);
  }

  #search(holds) {
    let low = 0, high = this.known;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(middle)) high = middle; else low = middle + 1;
    }
    return low;
  }

  #blockOf(index) {
    return this.blocks.find((block) => index >= block.first && index < block.end);
  }

  #element(index) {
    const block = this.#blockOf(index);
    return block?.filled ? block.element.children[index - block.first] : null;
  }

  #bring(index) {
    this.#fill(this.#blockOf(index));
    const element = this.#element(index), box = this.box.getBoundingClientRect(), at = element.getBoundingClientRect();
    if (at.top < box.top || at.bottom > box.bottom) {
      this.box.scrollTop += at.top - box.top - box.height / 3;
    }
    this.brought = index;
    return element;
  }

  #indexOf(target) {
    const element = target.closest?.(".t");
    return element ? Number(element.dataset.i) : null;
  }

  #key(event) {
    const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10, Home: -this.n, End: this.n };
    if (!(event.key in moves) || this.n === 0) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(this.n - 1, this.active + moves[event.key])));
  }
}
