import { connect, createServer } from 'node:net'

/** Leads from a port of its namespace to a unix socket, which has none. Usage: node relay.ts HOST PORT SOCKET */
const [, , host, port, path = ''] = process.argv

createServer((visitor) => {
  const server = connect(path)
  visitor.pipe(server).pipe(visitor)
  visitor.on('error', () => server.destroy()).on('close', () => server.destroy())
  server.on('error', () => visitor.destroy()).on('close', () => visitor.destroy())
}).listen(Number(port), host)
