import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'

/**
 * A collector of OpenTelemetry: prints each request that it takes as a line, its path and its body.
 * Usage: node collector.ts PORT
 */
createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    process.stdout.write(`${request.url} ${gunzipSync(Buffer.concat(chunks)).toString('utf8')}\n`)
    response.setHeader('content-type', 'application/json').end('{}')
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
