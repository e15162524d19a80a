import { type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import { codeOf } from '@postern/host/errors'

/**
 * A local user without any right, who guesses the administrator's password from ever new addresses of 127.0.0.0/8: at
 * the console's port, or by HAProxy. Prints the answers, counted by their status, each second.
 */
const [way = 'port', many = '60', host = ''] = process.argv.slice(2)
const answered: Record<string, number> = {}
let next = 0

function guess(): Promise<void> {
  const nth = next++
  const localAddress = `127.${1 + (nth >> 16)}.${(nth >> 8) & 255}.${nth & 255 || 1}`
  const body = JSON.stringify({ username: 'admin', password: `guess ${nth}` })
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const common = { localAddress, method: 'POST', path: '/api/auth/login', agent: false as const }
  return new Promise((resolve) => {
    const end = (result: string) => {
      answered[result] = (answered[result] ?? 0) + 1
      setTimeout(resolve, result === '401' ? 0 : 20)
    }
    const on = (answer: IncomingMessage) => {
      answer.resume().once('close', () => end(String(answer.statusCode)))
    }
    const port = { ...common, host: '127.0.0.1', port: 3000, headers }
    const byHaproxy = { ...port, port: 443, rejectUnauthorized: false, headers: { ...headers, host } }
    const sent = way === 'port' ? request(port, on) : requestTls(byHaproxy, on)
    sent.once('error', (error) => end(codeOf(error) ?? 'error')).end(body)
  })
}

async function guessOn(): Promise<never> {
  for (;;) await guess()
}

setInterval(() => console.log(JSON.stringify(answered)), 1000)
await Promise.all(Array.from({ length: Number(many) }, guessOn))
