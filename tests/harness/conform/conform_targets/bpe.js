// Byte pair encoding by a rank file (a line: base64 of the token, its rank), with GPT-2's pattern. Speaks PROTOCOL.md.
// Usage: node bpe.js RANK_FILE
'use strict'
const fs = require('fs')
const readline = require('readline')

const ranks = new Map()
const tokens = new Map()
for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const [token, rank] = line.split(' ')
  ranks.set(Buffer.from(token, 'base64').toString('latin1'), Number(rank))
  tokens.set(Number(rank), Buffer.from(token, 'base64'))
}
const space = '\\p{White_Space}'
const pattern = new RegExp(
  `'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^${space}\\p{L}\\p{N}]+|${space}+(?!\\P{White_Space})|${space}+`, 'gu')

function encodePiece (piece) {
  const parts = [...Buffer.from(piece, 'utf8').toString('latin1')]
  for (;;) {
    let best = -1
    let lowest = Infinity
    for (let i = 0; i + 1 < parts.length; i++) {
      const rank = ranks.get(parts[i] + parts[i + 1])
      if (rank < lowest) [best, lowest] = [i, rank]
    }
    if (best < 0) return parts.map(part => ranks.get(part))
    parts.splice(best, 2, parts[best] + parts[best + 1])
  }
}

const operations = {
  describe: () => ({ name: 'bpe.js', n_vocab: ranks.size }),
  encode: ({ text }) => (text.match(pattern) || []).flatMap(encodePiece),
  decode: ({ ids }) => Buffer.concat(ids.map(id => {
    if (!tokens.has(id)) throw new RangeError(`no token has the id ${id}`)
    return tokens.get(id)
  })).toString('utf8')
}

readline.createInterface({ input: process.stdin }).on('line', line => {
  const request = JSON.parse(line)
  const answer = { id: request.id }
  try {
    if (!operations[request.op]) throw new Error(`unknown operation ${request.op}`)
    answer.result = operations[request.op](request)
  } catch (error) {
    Object.assign(answer, { error: error.name, message: error.message })
  }
  process.stdout.write(JSON.stringify(answer) + '\n')
})
