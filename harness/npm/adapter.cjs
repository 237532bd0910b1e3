// Serves a tokenizer of npm over the line protocol (harness/conform/PROTOCOL.md): node adapter.cjs PACKAGE MODEL [FILE]
// FILE is the model's tokenizer.json, for packages that read one.
'use strict'
const [name, model, file] = process.argv.slice(2)

const OPENERS = {
  'js-tiktoken' () {
    const { Tiktoken } = require('js-tiktoken/lite')
    const ranks = require('js-tiktoken/ranks/' + model)
    const tokenizer = new Tiktoken(ranks.default || ranks)
    return {
      encode: (text, allowed, disallowed) => tokenizer.encode(text, allowed, disallowed),
      decode: ids => tokenizer.decode(ids),
      specials: true
    }
  },
  'gpt-tokenizer' () {
    const tokenizer = require('gpt-tokenizer/encoding/' + model)
    const set = given => given === 'all' ? 'all' : new Set(given)
    const ordinary = { disallowedSpecial: new Set() }
    return {
      encode: (text, allowed, disallowed) => tokenizer.encode(
        text, allowed.length || disallowed.length
          ? { allowedSpecial: set(allowed), disallowedSpecial: set(disallowed) } : ordinary),
      decode: ids => tokenizer.decode(ids),
      specials: true
    }
  },
  'ai-tokenizer' () {
    const { Tokenizer } = require('ai-tokenizer')
    const tokenizer = new Tokenizer(require('ai-tokenizer/encoding/' + model))
    return {
      encode: (text, allowed, disallowed) => tokenizer.encode(text, allowed, disallowed),
      decode: ids => tokenizer.decode(ids),
      specials: true
    }
  },
  '@lenml/tokenizers' () {
    const { TokenizerLoader } = require('@lenml/tokenizers')
    const tokenizerJSON = JSON.parse(require('fs').readFileSync(file, 'utf8'))
    const tokenizer = TokenizerLoader.fromPreTrained({ tokenizerJSON, tokenizerConfig: {} })
    return {
      encode: text => tokenizer.encode(text, { add_special_tokens: false }),
      decode: ids => tokenizer.decode(ids, { clean_up_tokenization_spaces: false })
    }
  }
}

const tokenizer = OPENERS[name]()
const encode = ({ text, allowed_special: allowed = [], disallowed_special: disallowed = [] }) =>
  Array.from(tokenizer.encode(text, allowed, disallowed))
const OPERATIONS = {
  encode,
  decode: ({ ids }) => tokenizer.decode(ids),
  timed_encode ({ text, loops }) {
    let quickest = Infinity
    for (let loop = 0; loop < loops; loop++) {
      const before = process.cpuUsage()
      tokenizer.encode(text, [], [])
      const { user, system } = process.cpuUsage(before)
      quickest = Math.min(quickest, (user + system) / 1e6)
    }
    return quickest
  },
  describe: () => ({
    name,
    operations: [...Object.keys(OPERATIONS), ...(tokenizer.specials ? ['allowed_special', 'disallowed_special'] : [])]
  })
}

require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, op, ...given } = JSON.parse(line)
  let answer
  try {
    answer = OPERATIONS[op] ? { id, result: OPERATIONS[op](given) } : { id, error: 'unknown operation' }
  } catch (error) {
    answer = { id, error: String(error.name || error), message: String(error.message || error).slice(0, 1000) }
  }
  console.log(JSON.stringify(answer))
})
