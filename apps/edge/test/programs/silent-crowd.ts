import { connect } from 'node:net'

/** Opens connections that say nothing: `PORT COUNT TARGET,SOURCE…`; writes a line once all were tried, and stays. */
const [port, count, ...pairs] = process.argv.slice(2)
let left = Number(count) * pairs.length
const done = () => {
  if (--left === 0) process.stdout.write('ready\n')
}
for (const pair of pairs) {
  const [host, localAddress] = pair.split(',')
  if (host === undefined || localAddress === undefined) throw new Error('a pair of addresses is missing')
  for (let i = 0; i < Number(count); i++)
    connect({ port: Number(port), host, localAddress })
      .once('connect', done)
      .on('error', done)
}
