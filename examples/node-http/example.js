// Trunkline over HTTP, with nothing but fetch: TRUNKLINE_KEY=tl_… node example.js
import assert from 'node:assert/strict'

const SERVER = process.env.TRUNKLINE_SERVER ?? 'http://127.0.0.1:8787'
const KEY = process.env.TRUNKLINE_KEY
const TOPIC = process.env.TOPIC ?? 'node-http'

/** What is wrong comes as a problem document (RFC 9457): its title and detail are worth showing. */
async function ask(method, path, body) {
  const response = await fetch(`${SERVER}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  const text = await response.text()
  const answer = text ? JSON.parse(text) : undefined
  if (!response.ok) {
    throw Object.assign(new Error(`${method} ${path}: ${response.status} ${answer?.detail ?? answer?.title ?? text}`), { status: response.status, problem: answer })
  }
  return answer
}

/** Messages as they come, one server-sent event each. */
async function* tail(topic, signal) {
  const response = await fetch(`${SERVER}/v1/topics/${topic}/tail?from=beginning`, { headers: { Authorization: `Bearer ${KEY}` }, signal })
  assert.equal(response.headers.get('content-type').split(';')[0], 'text/event-stream')
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split('\n\n')
    rest = events.pop()
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '))
      if (data) {
        yield JSON.parse(data.slice('data: '.length))
      }
    }
  }
}

const group = `/topics/${TOPIC}/groups/shared` // the one group of a queue
await ask('POST', '/topics', { name: TOPIC, partitions: 1 })
await ask('PUT', group, { start: 'beginning' })

// Whoever pulls may wait: this one is asked before there is anything.
const waiting = ask('POST', `${group}/pull`, { max: 10, lease: 'PT30S', wait: 'PT20S' })
const { messages: receipts } = await ask('POST', `/topics/${TOPIC}/messages`, [
  { key: 'ada', payload: { total: 12.5 }, headers: { source: 'shop' } },
  { key: 'bob', text: 'grüße' },
  { key: 'ada', base64: 'AP8=' },
])
console.log('published', receipts.length)

let batch = await waiting
const pulled = []
while (pulled.length < receipts.length) {
  batch ??= await ask('POST', `${group}/pull`, { wait: 'PT20S' })
  for (const message of batch?.messages ?? []) {
    console.log('pulled', message.key, message.text ?? message.base64, JSON.stringify(message.headers))
    pulled.push(message.id)
  }
  if (batch) {
    await ask('POST', `${group}/batches/${batch.token}/ack`, {})
  }
  batch = undefined
}
assert.deepEqual(pulled, receipts.map((receipt) => receipt.id))

const enough = new AbortController()
const seen = []
for await (const message of tail(TOPIC, enough.signal)) {
  console.log('seen', message.partition, message.offset, message.contentType)
  seen.push(message.id)
  if (seen.length === receipts.length) {
    break
  }
}
enough.abort()
assert.deepEqual(seen, pulled)

// A mistake is told with its field, and nothing of the batch is published.
const mistake = await ask('POST', `/topics/${TOPIC}/messages`, [{ text: 'x' }, { text: 'y', colour: 'red' }]).catch((error) => error)
console.log('refused', mistake.status, mistake.problem.field)

// Who comes after the end of its lease, and after somebody else, is told so.
await ask('POST', `/topics/${TOPIC}/messages`, { text: 'slow' })
const lost = await ask('POST', `${group}/pull`, { lease: 'PT0.001S', wait: 'PT20S' })
const taken = await ask('POST', `${group}/pull`, { wait: 'PT20S' })
const late = await ask('POST', `${group}/batches/${lost.token}/ack`, {}).catch((error) => error)
console.log('refused', late.status, taken.messages[0].attempt)
await ask('POST', `${group}/batches/${taken.token}/ack`, {})
