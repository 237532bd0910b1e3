// Serves a JavaScript tokenizer to `bpebench conform`, over the protocol of PROTOCOL.md:
//
//     bpebench conform 'cmd:node adapter.cjs js-tiktoken gpt2' -m gpt2
//     bpebench conform 'cmd:node adapter.cjs ./mine.cjs' -m mine.json
//
// The first argument is a package installed in the current folder, or a file; the second, if there is one, is the name
// its `getEncoding` takes. Without it the module itself has `encode(text)` and `decode(ids)`. Other packages: change `open`.
'use strict'
const { createRequire } = require('node:module')
const { createInterface } = require('node:readline')

function open (name, model) {
  const loaded = createRequire(process.cwd() + '/')(name)
  return model ? loaded.getEncoding(model) : loaded
}

const tokenizer = open(...process.argv.slice(2))
const operations = {
  // js-tiktoken's second and third arguments: which special tokens count, and which are an error. Without: none, none.
  encode: ({ text, allowed_special: allowed = [], disallowed_special: disallowed = [] }) =>
    Array.from(tokenizer.encode(text, allowed, disallowed)),
  decode: ({ ids }) => tokenizer.decode(ids),
  describe: () => ({ name: process.argv[2], operations: Object.keys(operations) })
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, op, ...given } = JSON.parse(line)
  let answer
  try {
    answer = operations[op] ? { id, result: operations[op](given) } : { id, error: 'unknown operation' }
  } catch (error) {
    answer = { id, error: String(error.name || error), message: String(error.message || error).slice(0, 1000) }
  }
  console.log(JSON.stringify(answer))
})
