// Elements, figures, and text made visible. Nothing here or elsewhere writes markup: text is only ever text.

export const $ = (id) => document.getElementById(id);

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export const figure = (value, digits = 0) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const plural = (n, word) => `${figure(n)} ${word}${n === 1 ? "" : "s"}`;

// How many characters begin in these bytes.
export function points(bytes, start, end) {
  let n = 0;
  for (let i = start; i < end; i++) n += (bytes[i] & 0xc0) !== 0x80;
  return n;
}

const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
export const directionOf = (text) => (RIGHT_TO_LEFT.test(text.slice(0, 1000)) ? "rtl" : "ltr");

export function fill(select, entries, chosen) {
  select.replaceChildren(...entries.map(({ name, label }) => {
    const option = h("option", { value: name }, label ?? name);
    option.selected = name === chosen;
    return option;
  }));
  if (chosen !== undefined && select.value !== chosen) {
    select.append(h("option", { value: chosen }, chosen));
    select.value = chosen;
  }
}

const MARKS = { " ": "·", "\t": "→", "\n": "↵", "\r": "␍" };
// Controls, spaces other than U+0020, and what turns the direction of text; joiners only where they stand alone.
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u202a-\u202f\u205f-\u206f\u3000\ufeff]/u;
const SPLIT = new RegExp(`( |${HIDDEN.source})`, "u");
const JOINERS = /^[\u200c\u200d\ufe00-\ufe0f]+$/u;
const point = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

// The nodes that show a text, invisible characters as marks, and (unless it is prose) white space.
export function visible(text, prose = false) {
  if (JOINERS.test(text)) return [...text].map((character) => h("code", {}, point(character)));
  return text.split(SPLIT).filter((part) => part !== "").flatMap((part) => {
    if (prose && part === " ") return [part];
    if (part in MARKS) {
      const mark = h("i", {}, MARKS[part]);
      return part === "\n" || part === "\t" ? [mark, part] : part === " " ? [mark, h("wbr")] : [mark];
    }
    return HIDDEN.test(part) ? [h("code", {}, point(part))] : [part];
  });
}

export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The nodes that show bytes: what is text as text, and the bytes of a cut character in hex.
export function shownBytes(bytes) {
  let start = 0, end = bytes.length;
  while (start < end && (bytes[start] & 0xc0) === 0x80) start++;
  let lead = end - 1;
  while (lead >= start && (bytes[lead] & 0xc0) === 0x80) lead--;
  if (lead >= start && bytes[lead] >= 0xc0) {
    const length = bytes[lead] >= 0xf0 ? 4 : bytes[lead] >= 0xe0 ? 3 : 2;
    if (lead + length > end) end = lead;
  }
  try {
    const text = decoder.decode(bytes.subarray(start, end));
    const cut = (part) => (part.length ? [h("code", {}, hex(part))] : []);
    return [...cut(bytes.subarray(0, start)), ...visible(text), ...cut(bytes.subarray(end))];
  } catch {
    return [h("code", {}, hex(bytes))];
  }
}

export function fromHex(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
