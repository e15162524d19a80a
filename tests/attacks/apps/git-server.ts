import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

const BACKEND = '/usr/lib/git-core/git-http-backend'

/** Git's own HTTP server, run by CGI as web servers do, with body and answer streamed. */
export function createGitServer(root: string): Server {
  return createServer((request, response) => {
    const child = spawn(BACKEND, { env: environmentOf(root, request) })
    request.pipe(child.stdin)
    // It may end before it has read everything, and a visitor may disconnect.
    child.stdin.on('error', () => undefined)
    response.on('close', () => child.kill())
    answerWith(child.stdout, response)
  })
}

function environmentOf(root: string, { url = '/', method = '', headers }: IncomingMessage) {
  const [path = '', query = ''] = url.split('?')
  return {
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    REMOTE_USER: 'somebody',
    PATH_INFO: path,
    QUERY_STRING: query,
    REQUEST_METHOD: method,
    CONTENT_TYPE: headers['content-type'] ?? '',
    CONTENT_LENGTH: headers['content-length'] ?? '',
    HTTP_CONTENT_ENCODING: String(headers['content-encoding'] ?? ''),
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
  }
}

/** CGI: the header lines, an empty line, then the body. */
function answerWith(output: NodeJS.ReadableStream, response: ServerResponse): void {
  let head: Buffer | undefined = Buffer.alloc(0)
  output.on('data', (chunk: Buffer) => {
    if (!head) return void response.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(': ')
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.write(head.subarray(end + 4))
    head = undefined
  })
  output.on('end', () => response.end())
}
