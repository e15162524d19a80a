import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

/** Takes messages over HTTP, and writes each as a line: `receiver.ts <port> <file>`. */
const [port, file = ''] = process.argv.slice(2)

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { url, headers } = request
    const body = Buffer.concat(chunks).toString('utf8')
    appendFileSync(file, `${JSON.stringify({ url, headers, body })}\n`)
    response.end('{}')
  })
}).listen(Number(port))
