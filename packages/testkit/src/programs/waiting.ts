import { createServer } from 'node:net'

/** A program that accepts every connection and never answers. Usage: node waiting.ts PORT */
createServer((socket) => socket.resume().on('error', () => undefined)).listen({
  port: Number(process.argv[2]),
  backlog: 4096,
})
