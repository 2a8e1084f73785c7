import pg from 'pg'

const count = Number(process.argv[2] ?? 10)
const client = new pg.Client()
await client.connect()
for (let i = 0; i < count; i++) {
  await client.query('begin')
  const { rows } = await client.query('insert into node_order (customer) values ($1) returning *', [`customer ${i % 7}`])
  await client.query(`select trunkline.publish('node-orders', $1::jsonb, key => $2)`, [rows[0], rows[0].customer])
  await client.query('commit')
}
// Not needed: consumers look once a second. But so they hear of it at once.
await client.query('call trunkline.relay_now()')
await client.end()
console.log(`placed ${count} orders`)
