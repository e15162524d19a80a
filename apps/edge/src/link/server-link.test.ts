import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createServerLink, type ServerLink } from './server-link.ts'
import { createSocketWay } from './socket-way.ts'

const TOKEN = 'token-of-the-edge'
const STRANGER = 12_345

let dir: string
let paths: ReturnType<typeof installationPaths>
let listener: Server
let link: ServerLink
let heard = ''
let said = ''

beforeEach(async () => {
  dir = tempDir()
  paths = installationPaths(dir)
  mkdirSync(paths.runDir, { mode: 0o750 })
  writeFileSync(paths.edgeToken, TOKEN)
  heard = said = ''
  listener = createServer((socket) =>
    socket.on('data', (chunk) => (heard += String(chunk))).on('error', () => 0),
  )
  await new Promise<void>((resolve) => listener.listen(paths.serverSocket, resolve))
  const write = (line: string) => {
    said += line
  }
  const log = pino({ level: 'error' }, { write })
  link = createServerLink({
    way: createSocketWay({ socketPath: paths.serverSocket, tokenFile: paths.edgeToken }),
    version: '0',
    epoch: 'e',
    random: Math.random,
    log,
    onHint: () => undefined,
    onReconnect: () => undefined,
  })
})
afterEach(async () => {
  await link.close()
  listener.close()
})

test('the socket of the server, or of root, gets the token', async () => {
  link.start()
  await until('the token', () => heard.includes(TOKEN))
  expect(said).toBe('')
})

test.each<[string, () => void]>([
  ['a socket of somebody else', () => chownSync(paths.serverSocket, STRANGER, STRANGER)],
  ['a directory of somebody else', () => chownSync(paths.runDir, STRANGER, STRANGER)],
  ['a directory that others write to', () => chmodSync(paths.runDir, 0o775)],
  [
    'a link to another socket',
    () => {
      renameSync(paths.serverSocket, join(dir, 'other.sock'))
      symlinkSync(join(dir, 'other.sock'), paths.serverSocket)
    },
  ],
  [
    'a link to another directory',
    () => {
      renameSync(paths.runDir, join(dir, 'elsewhere'))
      symlinkSync(join(dir, 'elsewhere'), dirname(paths.serverSocket))
    },
  ],
  [
    'a link to what only root reads, in place of the token,',
    () => {
      rmSync(paths.edgeToken)
      writeFileSync(join(dir, 'shadow'), 'root:$y$j9T$secret:20000:0:99999:7:::\n')
      symlinkSync(join(dir, 'shadow'), paths.edgeToken)
    },
  ],
])('%s does not, which is logged once', async (_, change) => {
  change()
  link.start()
  await expect(link.fetchState({})).rejects.toMatchObject({ code: 'server_socket' })
  await until('the words', () => said.includes('the edge does not speak to the server'))
  expect(said.trim().split('\n')).toHaveLength(1)
  expect(heard).toBe('')
})
