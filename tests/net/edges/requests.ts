import { connect } from 'node:net'

/**
 * Visits a program that sends a word and closes, one visit after another, for some time or so many times.
 * Usage: node requests.ts HOST PORT COUNT
 * Prints how many failed, and the slowest in ms, as JSON.
 */
const [, , host = '', port, count] = process.argv
const PATIENCE = 5000

const result = { failed: 0, slowest: 0 }
for (let visit = 0; visit < Number(count); visit++) {
  const began = performance.now()
  if (!(await isAnswered())) result.failed++
  result.slowest = Math.max(result.slowest, Math.round(performance.now() - began))
}
console.log(JSON.stringify(result))

function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = connect({ host, port: Number(port) })
    socket.setTimeout(PATIENCE, () => socket.destroy())
    socket.on('data', (data) => {
      heard += String(data)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(heard !== ''))
  })
}
