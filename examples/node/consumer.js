import { EventEmitter, once } from 'node:events'
import pg from 'pg'

const LEASE = process.env.LEASE ?? '30 seconds'
const LOOK_MILLIS = 1000
const UPKEEP_MILLIS = 5000

const pool = new pg.Pool()
const bell = new EventEmitter()
let stopping = false

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    stopping = true
    bell.emit('ring')
  })
}

/** Hears of what was appended, for as long as the connection lives; then of nothing, and we look once a second. */
async function listen() {
  const client = new pg.Client()
  client.on('error', (error) => console.error('no longer listening:', error.message))
  client.on('notification', () => bell.emit('ring'))
  await client.connect()
  await client.query('listen trunkline_trunkline')
  return client
}

/** The effect and the acknowledgement are one transaction. If the lease is lost, ack fails, and so does the effect. Returns the offsets left of the batch. */
async function handle(token, messages) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    for (const message of messages) {
      const order = JSON.parse(message.text)
      await client.query('insert into node_invoice (order_id, customer) values ($1, $2)', [order.id, order.customer])
    }
    const left = await client.query('select trunkline.ack($1, $2) as offsets', [token, messages.map((message) => message.offset)])
    await client.query('commit')
    client.release()
    return left.rows[0].offsets
  } catch (error) {
    client.release(error) // and with its connection the transaction is gone
    throw error
  }
}

/** One by one: only what fails is handed back, with what comes after it on its key. */
async function handleEach(token, messages) {
  while (messages.length > 0) {
    const [first] = messages
    const left = await handle(token, [first]).catch((error) => handBack(token, first, error))
    messages = messages.filter((message) => left.includes(String(message.offset)))
  }
}

async function handBack(token, message, error) {
  const left = await pool.query(`select trunkline.nack($1, $2, '1 second', $3) as offsets`, [token, [message.offset], error.message])
  return left.rows[0].offsets
}

const pop = async () => (await pool.query(`select trunkline.pop_json('shared', 'node-orders', 10, $1::interval) as batch`, [LEASE])).rows[0].batch

async function nextRing() {
  const enough = AbortSignal.timeout(LOOK_MILLIS)
  await once(bell, 'ring', { signal: enough }).catch(() => {})
}

async function work() {
  const batch = await pop()
  if (batch) {
    await handle(batch.token, batch.messages).catch(() => handleEach(batch.token, batch.messages))
  } else if ((await pool.query('call trunkline.relay_now()')).rows[0].relayed === '0') {
    await nextRing()
  }
}

pool.on('error', (error) => console.error('a connection was lost:', error.message))
const upkeep = setInterval(() => pool.query('call trunkline.upkeep_now()').catch((error) => console.error(error.message)), UPKEEP_MILLIS)
const listener = await listen()
console.log('listening')
while (!stopping) {
  await work().catch(async (error) => {
    console.error('trying again:', error.message)
    await nextRing()
  })
}
clearInterval(upkeep)
await listener.end()
await pool.end()
console.log('stopped')
