import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Peer, TunnelSettings } from '@postern/contract/desired-state'
import { createExec, type Exec } from '../src/exec.ts'

/** A network namespace of the test's own, with a directory and an interface name that nobody else uses. */
export interface Lab {
  name: string
  interface: string
  dir: string
  exec: Exec
  /** Runs a program inside that must succeed. @returns its output */
  must(program: string, ...args: string[]): Promise<string>
  close(): Promise<void>
}

const TIMEOUT = { timeoutMs: 10_000 }
const outside = createExec()

export async function startLab(): Promise<Lab> {
  const id = randomBytes(4).toString('hex')
  const name = `pte-${id}`
  await mustRun(outside, 'ip', 'netns', 'add', name)
  const exec = createExec(['ip', 'netns', 'exec', name])
  await mustRun(exec, 'ip', 'link', 'set', 'lo', 'up')
  const dir = mkdtempSync(join(tmpdir(), 'pte-'))
  return {
    name,
    interface: `pe${id}`,
    dir,
    exec,
    must: (program, ...args) => mustRun(exec, program, ...args),
    async close() {
      for (const pid of await pidsIn(name)) end(pid)
      await mustRun(outside, 'ip', 'netns', 'del', name)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // Errors of the system have a code; one that ended by itself is what we want.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export async function pidsIn(name: string): Promise<number[]> {
  const pids = await mustRun(outside, 'ip', 'netns', 'pids', name)
  return pids.split('\n').filter(Boolean).map(Number)
}

async function mustRun(exec: Exec, program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await exec.run(program, args, TIMEOUT)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr || stdout}`)
  return stdout
}

/** Stands in for a process that is killed right before its n-th call of another program. */
export function dyingExec(exec: Exec, dieAt: number): Exec & { calls(): number } {
  let calls = 0
  const count = () => {
    if (++calls >= dieAt) throw new Error(`killed before call ${dieAt}`)
  }
  return {
    calls: () => calls,
    run: async (...args) => {
      count()
      return exec.run(...args)
    },
    startDetached: async (...args) => {
      count()
      return exec.startDetached(...args)
    },
    stream: (...args) => {
      count()
      return exec.stream(...args)
    },
  }
}

export function makeKeys(): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const raw = (der: Buffer) => der.subarray(-32).toString('base64')
  return {
    privateKey: raw(privateKey.export({ format: 'der', type: 'pkcs8' })),
    publicKey: raw(publicKey.export({ format: 'der', type: 'spki' })),
  }
}

export function makeSettings(): TunnelSettings {
  return {
    publicHost: 'edge.example.com',
    tunnelPrivateKey: makeKeys().privateKey,
    tunnelNetwork4: '10.64.0.0/16',
    tunnelNetwork6: 'fd00:1:2::/64',
  }
}

export function makePeer(nodeId: number, changes: Partial<Peer> = {}): Peer {
  return {
    nodeId,
    publicKey: makeKeys().publicKey,
    presharedKey: randomBytes(32).toString('base64'),
    address4: `10.64.0.${nodeId + 1}`,
    address6: `fd00:1:2::${(nodeId + 1).toString(16)}`,
    subnets: [],
    keepalive: 25,
    allowInternet: false,
    ...changes,
  }
}
