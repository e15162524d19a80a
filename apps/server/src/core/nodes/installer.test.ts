import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { renderInstaller } from './installer.ts'

const SERVER = 'https://postern.example.com:8443'
const BUNDLE = Buffer.from('#!/bin/sh\necho 1.2.3 by the node of this host\n')
const SINGLE = gzipSync('#!/bin/sh\necho 1.2.3 with node inside\n')
/** It needs a missing library, and reports that like the dynamic loader. */
const WITHOUT_LIBRARY = gzipSync(
  '#!/bin/sh\necho libatomic.so.1: cannot open shared object file >&2\nexit 127\n',
)
const TOOLS = [
  'sh',
  'cat',
  'chmod',
  'cut',
  'dirname',
  'grep',
  'gzip',
  'head',
  'mktemp',
  'mv',
  'rm',
  'sha256sum',
]

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

let dir: string
let home: string
beforeEach(() => {
  dir = tempDir()
  chmodSync(dir, 0o755)
  home = join(dir, 'home')
  for (const name of ['bin', 'served', 'home']) mkdirSync(join(dir, name))
  for (const tool of TOOLS) symlinkSync(`/usr/bin/${tool}`, join(dir, 'bin', tool))
  serve('postern', BUNDLE)
  serve('postern-linux-x64.gz', SINGLE)
  // Instead of the network: the served files, by the last part of the address.
  give(
    'curl',
    `for i; do case $i in ${SERVER}/install/*) from=\${i##*/} ;; esac; last=$i; done
[ -f "${dir}/served/$from" ] && cat "${dir}/served/$from" >"$last"`,
  )
  give('uname', 'case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac')
})

const serve = (name: string, content: Buffer) => writeFileSync(join(dir, 'served', name), content)

/** A program of the host. */
function give(name: string, text: string): void {
  writeFileSync(join(dir, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
}

/** A Node on the host; only its answer to the script's question matters. */
const giveNode = (isNew: boolean) => give('node', `exit ${isNew ? 0 : 1}`)

function install(sums: Partial<Parameters<typeof renderInstaller>[1]> = {}, user?: number) {
  const all = { bundle: sha256(BUNDLE), x64: sha256(SINGLE), arm64: '', ...sums }
  const script = join(dir, 'agent.sh')
  writeFileSync(script, renderInstaller(SERVER, all))
  const ids = user === undefined ? {} : { uid: user, gid: user }
  const { status, stdout, stderr } = spawnSync('/bin/sh', [script, join(home, 'postern')], {
    env: { PATH: join(dir, 'bin') },
    encoding: 'utf8',
    ...ids,
  })
  return { status, stdout, stderr }
}

function expectNothing(outcome: ReturnType<typeof install>, message: string): void {
  expect(outcome).toMatchObject({ status: 1, stdout: '' })
  expect(outcome.stderr).toMatch(/^postern: [^\n]+\n$/)
  expect(outcome.stderr).toContain(message)
  expect(readdirSync(home)).toEqual([])
}

test('on a host with Node it installs the small file', () => {
  giveNode(true)
  const { status, stdout, stderr } = install()
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(`postern 1.2.3 by the node of this host is installed: ${home}/postern\n`)
  expect(readFileSync(join(home, 'postern'))).toEqual(BUNDLE)
  expect(statSync(join(home, 'postern')).mode & 0o777).toBe(0o755)
  expect(readdirSync(home)).toEqual(['postern'])
})

test.each([
  ['without Node', undefined],
  ['with an old Node', false],
])('on a host %s it installs the file with Node inside', (_, isNew) => {
  if (isNew !== undefined) giveNode(isNew)
  const { status, stdout, stderr } = install()
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(`postern 1.2.3 with node inside is installed: ${home}/postern\n`)
  expect(readdirSync(home)).toEqual(['postern'])
})

test('an existing agent stays until the new one is complete, and is then replaced', () => {
  giveNode(true)
  writeFileSync(join(home, 'postern'), 'the one before')
  expect(install({ bundle: '0'.repeat(64) }).status).toBe(1)
  expect(readFileSync(join(home, 'postern'), 'utf8')).toBe('the one before')
  expect(install().status).toBe(0)
  expect(readFileSync(join(home, 'postern'))).toEqual(BUNDLE)
})

test('a file with a wrong checksum is not installed', () => {
  giveNode(true)
  expectNothing(install({ bundle: '0'.repeat(64) }), "doesn't match your console's")
})

test('without Node, on a machine for which the server has no agent, it says so', () => {
  expectNothing(install({ x64: '' }), 'no agent with Node.js inside for linux-x64')
  give('uname', 'case $1 in -s) echo Linux ;; *) echo riscv64 ;; esac')
  expectNothing(install(), 'no agent with Node.js inside for riscv64')
  give('uname', 'echo FreeBSD')
  expectNothing(install(), 'runs on Linux only')
})

test('a user who may not write there is told to become root', () => {
  giveNode(true)
  expectNothing(install({}, 65534), 'Become root')
})

test.each(['curl', 'sha256sum'])('without %s it names the package to install', (tool) => {
  giveNode(true)
  rmSync(join(dir, 'bin', tool))
  expectNothing(install(), `${tool} is missing. Install it (apt install`)
})

test('a server that does not answer', () => {
  giveNode(true)
  rmSync(join(dir, 'served/postern'))
  expectNothing(install(), `${SERVER} does not answer`)
})

test('an agent that cannot start here is not installed', () => {
  serve('postern-linux-x64.gz', WITHOUT_LIBRARY)
  expectNothing(install({ x64: sha256(WITHOUT_LIBRARY) }), 'apt install libatomic1')
})

test("the install line's temporary file is removed", () => {
  giveNode(true)
  const script = join(dir, 'tmp.a1B2c3D4e5')
  writeFileSync(script, renderInstaller(SERVER, { bundle: sha256(BUNDLE), x64: '', arm64: '' }))
  const { status } = spawnSync('/bin/sh', [script, join(home, 'postern')], {
    env: { PATH: join(dir, 'bin') },
  })
  expect(status).toBe(0)
  expect(existsSync(script)).toBe(false)
})
