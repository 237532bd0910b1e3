// The tokens of a text as it is edited: the server is sent what was edited, and answers what that changes.

import { follow } from "./api.js";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const continues = (byte) => (byte & 0xc0) === 0x80;

// How many characters begin in these bytes.
export function points(bytes, start, end) {
  let n = 0;
  for (let i = start; i < end; i++) n += !continues(bytes[i]);
  return n;
}

// What to put in place of which characters of `old`, so that it becomes `now`; both are bytes.
function editOf(old, now) {
  const most = Math.min(old.length, now.length);
  let start = 0, after = 0;
  while (start < most && old[start] === now[start]) start++;
  while (start > 0 && (continues(old[start]) || continues(now[start]))) start--;
  while (after < most - start && old[old.length - 1 - after] === now[now.length - 1 - after]) after++;
  while (after > 0 && continues(now[now.length - after])) after--;
  const first = points(old, 0, start), text = decoder.decode(now.subarray(start, now.length - after));
  return { start: first, stop: first + points(old, start, old.length - after), text };
}

// `old` with new values after the first `kept`, in place of `removed`; those behind them are shifted.
function spliced(old, kept, removed, values, shift) {
  const after = kept + removed;
  const found = new Uint32Array(old.length - removed + values.length);
  found.set(old.subarray(0, kept));
  found.set(values, kept);
  for (let i = after, k = kept + values.length; i < old.length; i++, k++) found[k] = old[i] + shift;
  return found;
}

export class Follower {
  constructor(column) {
    this.column = { ...column };
    this.name = crypto.randomUUID();
    this.before = null; // the answer for the last text, and its bytes
  }

  // The answer for a text, with `ids`, `starts` and `ends` of all tokens.
  async answer(text, bytes) {
    const { before, column, name } = this;
    const ask = (base, edit) => follow({ column, follower: name, base, ...edit });
    this.before = null;
    const edit = before && editOf(before.bytes, bytes);
    let answer = edit && 2 * edit.text.length < text.length ? await ask(before.answer.version, edit) : { again: true };
    if (answer.again) answer = await ask(null, { start: 0, stop: 0, text });
    if (answer.error) return answer;
    if (answer.n_removed !== null) {
      const { n_kept, n_removed } = answer, shift = bytes.length - before.bytes.length;
      for (const array of ["ids", "starts", "ends"]) {
        answer[array] = spliced(before.answer[array], n_kept, n_removed, answer[array], array === "ids" ? 0 : shift);
      }
    }
    this.before = { answer, bytes };
    return answer;
  }
}
