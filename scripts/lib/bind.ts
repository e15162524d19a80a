import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

export type Protocol = 'tcp' | 'udp'

export interface Binding {
  port: number
  protocol: Protocol
  address: string
}

/** The code of the error that binding meets, like EADDRINUSE, or undefined when the port is free. */
export function findBindError({ port, protocol, address }: Binding): Promise<string | undefined> {
  return protocol === 'tcp' ? findTcpError(port, address) : findUdpError(port, address)
}

function findTcpError(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

function findUdpError(port: number, address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.bind({ port, address, exclusive: true }, () => socket.close(() => resolve(undefined)))
  })
}

/** The first free port from `start` on; a hundred are tried. */
export async function findFreePort(start: number, protocol: Protocol): Promise<number> {
  for (let port = start; port < start + 100; port++)
    if (!(await findBindError({ port, protocol, address: '0.0.0.0' }))) return port
  throw new Error(`no free ${protocol} port from ${start} on`)
}
